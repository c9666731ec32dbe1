"""`runs start`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from runs.commands import command_actor
from runs.contract.canonical import parse_strict
from runs.contract.errors import Invalid
from runs.queue.operating.start import run_start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "start an agent that only reads"


def declare(parser: CommandParser) -> None:
    """Declare which agent, its input and its subject."""
    parser.add_argument("agent", metavar="REF", help="agent, such as ci-doctor@1; without @, its newest version")
    parser.add_argument("--input", required=True, metavar="FILE", help="its variables as one JSON object")
    parser.add_argument("--subject", default="", metavar="S", help="what it is about; budgets and filters go by it")
    parser.add_argument("--key", default="", metavar="TEXT", help="the same key starts once, however often it is sent")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Start it."""
    started = run_start(
        agent=options["agent"],
        variables=_variables(Path(options["input"])),
        subject=options["subject"],
        key=options["key"],
        actor=command_actor(),
    )
    told = "is queued" if started.created else f"was started with this key before; it is {started.run.state}"
    command.stdout.write(f"{started.run.run_id} {told}; see: manage.py runs show {started.run.run_id}")


def _variables(path: Path) -> Any:
    try:
        return parse_strict(path.read_bytes())
    except OSError as error:
        raise CommandError(
            f"--input {path} cannot be read: {error.strerror}; name a file with one JSON object"
        ) from None
    except Invalid as error:
        raise CommandError(f"--input {path} is no JSON: {error.message}") from None

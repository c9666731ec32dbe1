"""`runs retry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import reason_flag
from runs.commands import command_actor
from runs.queue.operating.retry import run_retry
from runs.reading.detail import run_find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "queue a failed run again"


def declare(parser: CommandParser) -> None:
    """Declare which run, whether beyond its budget, and why."""
    parser.add_argument("id", metavar="RUN")
    parser.add_argument("--force", action="store_true", help="also when its agent may not try any more")
    reason_flag(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Queue it again."""
    run = run_retry(
        run=run_find(options["id"]), actor=command_actor(), force=options["force"], reason=options["reason"]
    )
    command.stdout.write(f"{run.run_id} is {run.state}; see: manage.py runs why {run.run_id}")

"""`workers release`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import reason_flag
from runs.commands import command_actor
from workers.services.release import worker_release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "take a run back from its worker now"


def declare(parser: CommandParser) -> None:
    """Declare which worker and run, whether from a live one, and why."""
    parser.add_argument("id", metavar="WORKER")
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--force", action="store_true", help="also from a worker that is heard of")
    reason_flag(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Take the run back."""
    run = worker_release(
        worker_id=options["id"],
        run_id=options["run"],
        actor=command_actor(),
        force=options["force"],
        reason=options["reason"],
    )
    command.stdout.write(f"{run.run_id} is {run.state}; see: manage.py runs why {run.run_id}")

"""`workers drain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import reason_flag
from runs.commands import command_actor
from workers.services.drain import worker_drain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "let it leave once its run has ended"


def declare(parser: CommandParser) -> None:
    """Declare which worker, whether it shall stay after all, and why."""
    parser.add_argument("id", metavar="WORKER")
    parser.add_argument("--back", action="store_true", help="let it stay, if it has not left yet")
    reason_flag(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Ask it to leave; nothing that it does is broken off."""
    row = worker_drain(worker_id=options["id"], actor=command_actor(), reason=options["reason"], back=options["back"])
    said = "stays" if options["back"] else "takes no more runs and leaves once its run has ended"
    command.stdout.write(f"{row.worker_id} {said}; see: manage.py workers show {row.worker_id}")

"""`runs cancel`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import reason_flag
from runs.commands import command_actor
from runs.queue.cancel import run_cancel
from runs.reading.detail import run_find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "end it at once; its agent is stopped"


def declare(parser: CommandParser) -> None:
    """Declare which run, and why."""
    parser.add_argument("id", metavar="RUN")
    reason_flag(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Cancel it."""
    run = run_find(options["id"])
    cancelled = run_cancel(run=run, code="operator_cancel", actor=command_actor(), reason=options["reason"][:500])
    command.stdout.write(f"{cancelled.run_id} is {cancelled.state}")

"""`runs extend`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import instant, reason_flag
from runs.commands import command_actor
from runs.queue.operating.extend import run_extend
from runs.reading.detail import run_find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "give a running agent more time"


def declare(parser: CommandParser) -> None:
    """Declare which run, how much time, whether beyond the limit, and why."""
    parser.add_argument("id", metavar="RUN")
    parser.add_argument("seconds", type=int, metavar="SECONDS", help="1 to 3600")
    parser.add_argument("--override", action="store_true", help="also beyond limits.maxRunMinutes of policy.yaml")
    reason_flag(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Move its deadlines."""
    attempt = run_extend(
        run=run_find(options["id"]),
        seconds=options["seconds"],
        actor=command_actor(),
        override=options["override"],
        reason=options["reason"],
    )
    command.stdout.write(
        f"{attempt.run.run_id}: the agent has until {instant(attempt.agent_deadline_at)}, "
        f"its result until {instant(attempt.deadline_at)}"
    )

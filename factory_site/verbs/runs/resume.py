"""`runs resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import reason_flag
from factory_site.verbs.runs.scopes import pause_scope, scope_flags
from runs.commands import command_actor
from runs.queue.limits.pauses import pause_find, pause_lift
from runs.queue.limits.sentences import pause_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "lift a pause: of everything, of a repository or of an agent"


def declare(parser: CommandParser) -> None:
    """Declare which pause, and why it goes."""
    scope_flags(parser)
    reason_flag(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Lift it."""
    scope, key = pause_scope(options)
    found = pause_find(scope=scope, key=key)
    pause = pause_lift(pause_id=found.pk, actor=command_actor(), reason=options["reason"])
    command.stdout.write(f"{pause_name(pause)} goes on: the pause was lifted")

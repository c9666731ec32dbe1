"""`runs pause`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from factory_site.shell.command_verbs import reason_flag
from factory_site.verbs.runs.scopes import pause_scope, scope_flags
from runs.clock import now
from runs.commands import command_actor
from runs.contract.errors import Invalid
from runs.contract.instants import parse_instant
from runs.policy.forms import span
from runs.queue.limits.pauses import pause_set
from runs.queue.limits.sentences import pause_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "let nothing new be claimed: of everything, of a repository or of an agent"


def declare(parser: CommandParser) -> None:
    """Declare what is paused, until when, and why."""
    scope_flags(parser)
    parser.add_argument("--until", metavar="T", help="lift it by itself: 2026-08-30T18:00:00Z, or after 4h")
    reason_flag(parser, required=True)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Pause."""
    scope, key = pause_scope(options)
    until = _until(options["until"]) if options["until"] else None
    pause = pause_set(scope=scope, key=key, reason=options["reason"], actor=command_actor(), until=until)
    command.stdout.write(pause_sentence(pause))


def _until(text: str) -> datetime:
    after = span(text)
    try:
        return parse_instant(text) if after is None else now() + after
    except (Invalid, OverflowError):
        raise CommandError(
            f"--until {text!r} is wrong: write an instant such as 2026-08-30T18:00:00Z, or a time such as 4h"
        ) from None

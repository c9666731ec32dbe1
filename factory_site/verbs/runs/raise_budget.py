"""`runs raise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from factory_site.shell.command_verbs import reason_flag
from runs.commands import command_actor
from runs.models import SpendScope
from runs.queue.limits.balance import Amount, micro_usd_typed
from runs.queue.limits.raises import budget_raise
from runs.queue.limits.sentences import used_words
from runs.reading.limits import budget_row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "add to a budget: of today, of a subject or of a run"


def declare(parser: CommandParser) -> None:
    """Declare which limit, how much is added, and why."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--day", action="store_true", help="of the UTC day that runs now, until it ends")
    which.add_argument("--subject", metavar="S", default="", help="of a subject, such as owner/repo#12, for good")
    which.add_argument("--run", metavar="ID", default="", help="of a run, for good")
    parser.add_argument("--usd", metavar="N", help="dollars to add")
    parser.add_argument("--tokens", metavar="N", type=int, default=0, help="tokens to add")
    reason_flag(parser, required=True)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Raise it."""
    scope, key = SpendScope.DAY, ""
    if options["subject"]:
        scope, key = SpendScope.SUBJECT, options["subject"]
    elif options["run"]:
        scope, key = SpendScope.RUN, options["run"]
    added = Amount(_micro(options["usd"]), options["tokens"])
    row = budget_raise(scope=scope, key=key, added=added, reason=options["reason"], actor=command_actor())
    command.stdout.write(f"raised; {used_words(budget_row(scope, row.key).balance)} used now")


def _micro(text: str | None) -> int:
    micro = micro_usd_typed(text or "")
    if micro is None:
        raise CommandError(f"--usd {text!r} is no number of dollars; write it as 25 or 2.50")
    return micro

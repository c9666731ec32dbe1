"""`runs requeue-effect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.commands import command_actor
from runs.outbox.requeue import outbox_requeue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "deliver a dead row of the outbox again"


def declare(parser: CommandParser) -> None:
    """Declare which row; the doctor names them."""
    parser.add_argument("id", type=int, metavar="ROW", help="its number, as `manage.py doctor` shows it")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Queue it again."""
    row = outbox_requeue(row_id=options["id"], actor=command_actor())
    command.stdout.write(f"outbox row {row.pk} ({row.topic}) is delivered again")

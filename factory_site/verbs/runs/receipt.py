"""`runs receipt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.reading.detail import run_find, run_receipt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "the hashes that bind specification, result and journal"


def declare(parser: CommandParser) -> None:
    """Declare which run."""
    parser.add_argument("id", metavar="RUN")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print the receipt as it was made."""
    command.show_json(run_receipt(run_find(options["id"])))

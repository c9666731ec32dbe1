"""`runs trace`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import instant
from runs.reading.detail import MOST_TRACE_ROWS, run_find, run_trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "what its agent does"


def declare(parser: CommandParser) -> None:
    """Declare which run, and from where on."""
    parser.add_argument("id", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="print what the API answers")
    parser.add_argument("--since", type=int, default=-1, metavar="SEQ", help="rows after this one")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print the newest attempt's rows."""
    document = run_trace(run_find(options["id"]), since=options["since"], limit=MOST_TRACE_ROWS)
    if options["json"]:
        command.show_json(document)
        return
    rows = [(row["seq"], instant(row["at"]), row["kind"], row["payload"]) for row in document["items"]]
    command.show_rows(("SEQ", "AT", "KIND", "WHAT"), rows, "no trace yet")

"""`runs why`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.failed_run import rest_line
from runs.reading.detail import run_find
from runs.reading.why import run_why

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "why it waits, and what each worker lacks"


def declare(parser: CommandParser) -> None:
    """Declare which run, and in what form."""
    parser.add_argument("id", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="print what the API answers")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print why it waits; of a run at rest how it ended, and what tells more."""
    run = run_find(options["id"])
    document = run_why(run)
    if options["json"]:
        command.show_json(document)
        return
    if run.is_at_rest:
        command.stdout.write(rest_line(run))
        return
    waiting = document["waiting"]
    command.stdout.write(
        f"{document['runId']} is {document['state']}: {waiting['text'] if waiting else 'it waits for nothing'}"
    )
    for row in document["workers"]:
        lacks = f"lacks {row['lacks']}" if row["lacks"] else "fits, busy" if row["busy"] else "fits, free"
        command.stdout.write(f"  {row['worker']}: {lacks}")

"""`runs show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.shell.command_verbs import instant
from factory_site.shell.failed_run import failure_lines
from runs.reading.detail import run_detail, run_find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "one run with attempts and journal"


def declare(parser: CommandParser) -> None:
    """Declare which run, and in what form."""
    parser.add_argument("id", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="print what the API answers")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print one run; of one that ended badly the first error next; then its attempts and its journal."""
    run = run_find(options["id"])
    document = run_detail(run)
    if options["json"]:
        command.show_json(document)
        return
    command.show_fields(
        {
            "run": f"{document['runId']} {document['state']}, {document['reason']['text']}",
            "agent": document["agent"],
            "subject": document["subjectLabel"],
            "waits": document["waiting"] and document["waiting"]["text"],
            "receipt": document["receiptHash"],
        }
    )
    for line in failure_lines(run):
        command.stdout.write(line)
    for row in document["attempts"]:
        ended = f"{row['outcome']}, {row['reasonCode']}" if row["outcome"] else row["phase"]
        command.stdout.write(
            f"attempt {row['attempt']} on {row['worker']}: {ended} (since {instant(row['claimedAt'])})"
        )
    for row in document["journal"]:
        command.stdout.write(
            f"{instant(row['at'])} {row['edge'] or row['kind']} by {row['actor']} {row['reasonCode'] or ''}"
        )

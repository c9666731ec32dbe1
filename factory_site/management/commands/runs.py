"""`manage.py runs`: pieces of agent work, and what an operator does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.api.runs import RunFilter, runs_filtered
from factory_site.command_verbs import Verbs, instant, limit_of, list_flags
from runs.commands import command_actor
from runs.flow import RUN_MACHINE
from runs.queue.cancel import run_cancel
from runs.reading.detail import MOST_TRACE_ROWS, run_detail, run_find, run_receipt, run_trace
from runs.reading.rows import run_rows
from runs.reading.why import run_why

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

ONE = {
    "show": "one run with attempts and journal",
    "trace": "what its agent does",
    "receipt": "the hashes that bind specification, result and journal",
    "why": "why it waits, and what each worker lacks",
    "cancel": "end it at once; its agent is stopped",
}


class Command(Verbs):
    """List and show runs, explain one, cancel one."""

    help = "Runs: list, show, trace, receipt, why, cancel."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        rows = verbs.add_parser("list", help="runs, newest first")
        rows.add_argument("--state", choices=RUN_MACHINE.values)
        for flag in ("agent", "subject", "repository"):
            rows.add_argument(f"--{flag}")
        list_flags(rows)
        for name, says in ONE.items():
            one = verbs.add_parser(name, help=says)
            one.add_argument("id", metavar="RUN")
            if name in {"show", "why", "trace"}:
                one.add_argument("--json", action="store_true", help="print what the API answers")
            if name == "trace":
                one.add_argument("--since", type=int, default=-1, metavar="SEQ", help="rows after this one")
            if name == "cancel":
                one.add_argument("--reason", default="", metavar="TEXT")

    def verb_list(self, options: dict[str, Any]) -> None:
        """Print a window of the list."""
        wanted = RunFilter(**{name: options[name] for name in ("state", "agent", "subject", "repository")})
        found = run_rows(list(runs_filtered(wanted).order_by("-pk")[: limit_of(options)]))
        if options["json"]:
            self.show_json({"items": found})
            return
        rows = [
            (
                row["runId"],
                row["state"],
                row["agent"],
                row["subjectLabel"],
                instant(row["createdAt"]),
                row["waiting"]["text"] if row["waiting"] else row["reason"]["text"],
            )
            for row in found
        ]
        self.show_rows(("RUN", "STATE", "AGENT", "SUBJECT", "MADE", "WHY"), rows, "no run")

    def verb_show(self, options: dict[str, Any]) -> None:
        """Print one run, its attempts and its journal."""
        document = run_detail(run_find(options["id"]))
        if options["json"]:
            self.show_json(document)
            return
        self.show_fields(
            {
                "run": f"{document['runId']} {document['state']}, {document['reason']['text']}",
                "agent": document["agent"],
                "subject": document["subjectLabel"],
                "waits": document["waiting"] and document["waiting"]["text"],
                "receipt": document["receiptHash"],
            }
        )
        for row in document["attempts"]:
            ended = f"{row['outcome']}, {row['reasonCode']}" if row["outcome"] else row["phase"]
            self.stdout.write(
                f"attempt {row['attempt']} on {row['worker']}: {ended} (since {instant(row['claimedAt'])})"
            )
        for row in document["journal"]:
            self.stdout.write(
                f"{instant(row['at'])} {row['edge'] or row['kind']} by {row['actor']} {row['reasonCode'] or ''}"
            )

    def verb_trace(self, options: dict[str, Any]) -> None:
        """Print the newest attempt's rows."""
        document = run_trace(run_find(options["id"]), since=options["since"], limit=MOST_TRACE_ROWS)
        if options["json"]:
            self.show_json(document)
            return
        rows = [(row["seq"], instant(row["at"]), row["kind"], row["payload"]) for row in document["items"]]
        self.show_rows(("SEQ", "AT", "KIND", "WHAT"), rows, "no trace yet")

    def verb_receipt(self, options: dict[str, Any]) -> None:
        """Print the receipt as it was made."""
        self.show_json(run_receipt(run_find(options["id"])))

    def verb_why(self, options: dict[str, Any]) -> None:
        """Print why it waits."""
        document = run_why(run_find(options["id"]))
        if options["json"]:
            self.show_json(document)
            return
        waiting = document["waiting"]
        self.stdout.write(
            f"{document['runId']} is {document['state']}: {waiting['text'] if waiting else 'it waits for nothing'}"
        )
        for row in document["workers"]:
            lacks = f"lacks {row['lacks']}" if row["lacks"] else "fits, busy" if row["busy"] else "fits, free"
            self.stdout.write(f"  {row['worker']}: {lacks}")

    def verb_cancel(self, options: dict[str, Any]) -> None:
        """Cancel it."""
        run = run_find(options["id"])
        cancelled = run_cancel(run=run, code="operator_cancel", actor=command_actor(), reason=options["reason"][:500])
        self.stdout.write(f"{cancelled.run_id} is {cancelled.state}")

"""`runs list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.api.runs import RunFilter, runs_filtered
from factory_site.shell.command_verbs import instant, limit_of, list_flags
from runs.flow import RUN_MACHINE
from runs.reading.narrowing import CAUSES
from runs.reading.rows import run_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "runs, newest first"
FILTERS = ("state", "agent", "subject", "repository", "worker", "reason", "cause", "adapter")


def declare(parser: CommandParser) -> None:
    """Declare the filters of the API."""
    parser.add_argument("--state", choices=RUN_MACHINE.values)
    parser.add_argument("--cause", choices=CAUSES)
    for name in ("agent", "subject", "repository", "worker", "reason", "adapter"):
        parser.add_argument(f"--{name}")
    list_flags(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print a window of the list."""
    wanted = RunFilter(**{name: options[name] for name in FILTERS})
    found = run_rows(list(runs_filtered(wanted).order_by("-pk")[: limit_of(options)]))
    if options["json"]:
        command.show_json({"items": found})
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
    command.show_rows(("RUN", "STATE", "AGENT", "SUBJECT", "MADE", "WHY"), rows, "no run")

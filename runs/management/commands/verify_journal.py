"""`manage.py verify_journal`: recompute the journal of every run and compare it with what is stored."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from runs.clock import now
from runs.commands import ProductCommand
from runs.models import Run
from runs.queue.audit import journal_faults

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

LONGEST_SPAN = 6  # characters


class Command(ProductCommand):
    """Print one line for each fault (run, seq, kind of fault); exit 1 if there is any."""

    help = "Recompute the hashes of every journal and compare heads, states and receipts."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the run, or the instant from which runs are looked at."""
        parser.add_argument("--run", default="", metavar="ID", help="only this run")
        parser.add_argument("--since", type=_since, metavar="D", help="only runs made since, as 2026-08-30 or 7d")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say how much was looked at, or what is wrong."""
        del args
        run_id = options["run"]
        if run_id and not Run.objects.filter(run_id=run_id).exists():
            raise CommandError(f"there is no run {run_id}; list them with: manage.py runs list")
        faults = 0
        for fault in journal_faults(run_id=run_id, since=options["since"]):
            faults += 1
            self.stdout.write(str(fault))
        if faults:
            sys.exit(1)
        self.stdout.write("every journal that was looked at verifies")


def _since(text: str) -> datetime:
    """A day, or a number of days or hours back from now."""
    unit = {"d": "days", "h": "hours"}.get(text[-1:])
    if unit and text[:-1].isdecimal() and len(text) <= LONGEST_SPAN:
        return now() - timedelta(**{unit: int(text[:-1])})
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise ArgumentTypeError(
            f"{text!r} is wrong: write a day as 2026-08-30, or a span back from now as 7d"
        ) from None

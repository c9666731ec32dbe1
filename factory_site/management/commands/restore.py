"""`manage.py restore FILE`: put a backup back."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from factory_site.backup.access import access_lines
from factory_site.backup.mend import missing_restored
from factory_site.backup.restore import restored
from factory_site.backup.wipe import nobody_serves
from runs.commands import ProductCommand
from runs.queue.audit import journal_faults
from workers.host.process.only_one import hold_lock

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Restore, verify every journal, and say what to do next."""

    help = "Put a backup back, into SQLite or PostgreSQL alike; refused while somebody serves, or rows are there."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, and the leave to replace what is there."""
        parser.add_argument("file", type=Path, metavar="FILE")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--replace", action="store_true", help="remove the rows that the database holds now")
        how.add_argument(
            "--missing",
            action="store_true",
            help="put back only stored objects that are damaged and documents that are absent; may run while serving",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Hold the data folder meanwhile, as `serve` does; exit 1 when a journal does not verify."""
        del args
        if options["missing"]:
            objects, documents = missing_restored(options["file"].absolute())
            self.say(f"put back {objects} stored objects and {documents} documents")
            return
        lock = hold_lock(settings.FACTORY.home / "run", "serve")
        try:
            nobody_serves()
            found = restored(options["file"].absolute(), replace=options["replace"])
        finally:
            os.close(lock)
        self.say(f"restored {found.rows} rows and {found.objects} stored objects of {found.taken_at}")
        if found.settings_file:
            self.say(f"its settings lie in {found.settings_file}: take from there what this machine needs")
        for line in access_lines():
            self.say(line)
        faults = list(journal_faults())
        for fault in faults:
            self.say(str(fault))
        if faults:
            sys.exit(1)
        self.say("every journal verifies; start with: manage.py serve")

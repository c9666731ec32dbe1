"""`manage.py purge`: remove everything and begin anew."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError

from factory_site.backup.purge import everything_purged, purge_sentence
from factory_site.backup.wipe import nobody_serves
from runs.commands import ProductCommand
from workers.host.process.only_one import hold_lock

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Wipe the database and the stored objects, and make empty tables."""

    help = "Remove every row and stored object, and make empty tables; settings and policy stay."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the confirmation."""
        parser.add_argument("--yes", action="store_true", help="really do it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what would go; with `--yes` let it go, while nobody serves."""
        del args
        if not options["yes"]:
            raise CommandError(f"{purge_sentence()}; back it up, then run: manage.py purge --yes")
        lock = hold_lock(settings.FACTORY.home / "run", "serve")
        try:
            nobody_serves()
            everything_purged()
        finally:
            os.close(lock)
        self.say("everything was removed; begin anew with: manage.py serve")

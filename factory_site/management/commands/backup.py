"""`manage.py backup`: everything durable in one file, taken while the system serves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from factory_site.backup.take import backup_taken, default_path, older_removed
from runs.commands import ProductCommand

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Write the backup and say what it holds."""

    help = "Write database, stored objects, secrets and site files to one file; the system may serve meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the place, and what to leave out or remove."""
        parser.add_argument(
            "--output", metavar="FILE", help="default: backups/factory-<instant>.tar in the data folder"
        )
        parser.add_argument("--without-artifacts", action="store_true", help="leave stored objects out")
        parser.add_argument("--keep", type=int, metavar="N", help="then remove all but the newest N of that folder")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take it; an object that is damaged is named and put aside."""
        del args
        keep = options["keep"]
        if keep is not None and keep < 1:
            raise CommandError("--keep takes 1 or more: this backup is one of them")
        path = Path(options["output"]).absolute() if options["output"] else default_path()
        try:
            taken = backup_taken(path, objects=not options["without_artifacts"])
        except OSError as error:
            raise CommandError(
                f"{path} cannot be written ({error.strerror}); name another one with --output"
            ) from error
        for sha256 in taken.damaged:
            self.stderr.write(f"damaged and left out: artifact {sha256}; see: manage.py doctor")
        size = taken.size_bytes / 1_000_000
        self.say(f"{path}: {taken.rows} rows, {taken.objects} stored objects, {size:.1f} MB")
        self.say("It holds secrets: keep it where only you can read it. Back with: manage.py restore FILE")
        for gone in older_removed(path.parent, keep) if keep else ():
            self.say(f"removed {gone}")

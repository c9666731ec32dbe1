"""`manage.py units`: service definitions for launchd and systemd."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from factory_site.units.files import MANAGERS, files_difference, files_write, unit_files
from runs.commands import ProductCommand

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Write the files of a service manager, or compare a folder with them."""

    help = "Write service definitions that keep control plane and pool alive; they hold no secret and no host path."
    requires_system_checks: list[str] = []  # Django's own shape

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("manager", choices=sorted(MANAGERS))
        parser.add_argument("--workers", default="1:2", metavar="MIN:MAX", help="bounds of the pool; default 1:2")
        parser.add_argument("--output", type=Path, default=Path("units"), metavar="DIR", help="default: ./units")
        parser.add_argument("--check", action="store_true", help="exit 1 with a diff when the folder holds other files")

    def handle(self, **options: Any) -> None:
        """Do one of the two."""
        files = unit_files(options["manager"], options["workers"])
        folder = options["output"]
        if not options["check"]:
            files_write(folder, files)
            for name in files:
                self.stdout.write(str(folder / name))
            return
        difference = files_difference(folder, files)
        if difference:
            self.stdout.write(difference, ending="")
            raise CommandError(f"{folder} holds other files; run: manage.py units {options['manager']}")
        self.stdout.write(f"{folder} holds these files")

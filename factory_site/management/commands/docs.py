"""`manage.py docs`: the reference made from the code, and the check that the document shows the same."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from factory_site.reference.document import reference
from runs.commands import ProductCommand


class Command(ProductCommand):
    """Print, write or compare docs/reference.md."""

    help = "Print the reference of commands, routes, passes and policy, compare docs/reference.md, or write it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--check", action="store_true", help="exit 1 when the document differs from the code")
        parser.add_argument("--write", action="store_true", help="write the document")

    def handle(self, **options: Any) -> None:
        """Do one of the three."""
        path = settings.BASE_DIR / "docs" / "reference.md"
        text = reference(settings.BASE_DIR)
        if options["write"]:
            path.write_text(text, encoding="utf-8")
        elif not options["check"]:
            self.stdout.write(text)
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            raise CommandError("docs/reference.md differs from the code; run: manage.py docs --write")
        else:
            self.stdout.write("docs/reference.md shows the code as it is")

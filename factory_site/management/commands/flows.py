"""`manage.py flows`: the diagram of every state machine, and the check that the documents show the same."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from factory_site.reference.diagrams import diagram_documents


class Command(BaseCommand):
    """Print, write or compare the diagrams that the tables make."""

    help = "Print the diagram and table of every state machine, compare them with docs/flows, or write them there."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--check", action="store_true", help="exit 1 when a document differs from its table")
        parser.add_argument("--write", action="store_true", help="write the documents")

    def handle(self, **options: Any) -> None:
        """Do one of the three."""
        folder = settings.BASE_DIR / "docs" / "flows"
        documents = diagram_documents()
        if options["write"]:
            folder.mkdir(exist_ok=True)
            for name, text in documents.items():
                (folder / name).write_text(text, encoding="utf-8")
            return
        if options["check"]:
            kept = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
            differing = sorted(name for name in {*documents, *kept} if documents.get(name) != kept.get(name))
            if differing:
                raise CommandError(f"docs/flows differs for {', '.join(differing)}; run: manage.py flows --write")
            self.stdout.write(f"docs/flows shows all {len(documents)} machines as they are")
            return
        for text in documents.values():
            self.stdout.write(text)

"""`manage.py sync_definitions`: load agent definitions, prompts and schemas from files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.conf import settings

from runs.commands import ProductCommand, command_actor
from runs.definitions.sync import definitions_sync
from runs.policy import policy_read

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Store what the files declare; `--check` writes nothing and exits 1 if anything would change or is wrong."""

    help = "Load agent definitions, prompts and schemas from fixtures/ and the data folder."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take `--check`."""
        parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if anything would change")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line for each change."""
        del args
        policy_read(settings.FACTORY.home / "policy.yaml")
        changes = definitions_sync(actor=command_actor(), check=options["check"])
        for line in changes.lines:
            self.stdout.write(line)
        if options["check"] and changes.lines:
            sys.exit(1)

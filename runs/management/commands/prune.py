"""`manage.py prune`: remove what retention no longer keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.commands import ProductCommand
from runs.retention.prune import prunable, pruned
from runs.retention.rules import rules

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Print a line for each rule: what went, or with `--dry-run` what would go."""

    help = "Remove what is older than policy.yaml keeps it (retention); the same as an hourly pass does."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take `--dry-run`."""
        parser.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Apply the rules one after the other, each to its end."""
        del args
        dry = options["dry_run"]
        for each in prunable() if dry else pruned():
            verb = "would remove" if dry else "removed"
            self.say(f"{each.rule.name}: {verb} {each.count} {each.rule.what} older than {each.rule.days} days")
        for rule in rules():
            if rule.days is None:
                self.say(f"{rule.name}: kept for ever")

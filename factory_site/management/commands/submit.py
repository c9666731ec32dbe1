"""`manage.py submit`: hand a pull request to the product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.services.submit import pull_submit
from factory_site.beat import nudge_through_huey
from runs.commands import ProductCommand, command_actor

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Submit one pull request; a running one is said to run."""

    help = "Submit a pull request: owner/repo#12, or its address."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("reference", metavar="OWNER/REPO#N or URL")
        parser.add_argument("--max-rounds", type=int, metavar="N")
        parser.add_argument("--no-auto-merge", action="store_true", help="review only: never merge it")

        parser.add_argument(
            "--depends-on",
            action="append",
            default=[],
            metavar="REF",
            help="merge after this pull request; may be given several times",
        )

    def handle(self, **options: Any) -> None:
        """Submit and say what became of it."""
        nudge_through_huey()
        submitted = pull_submit(
            reference=options["reference"],
            max_rounds=options["max_rounds"],
            auto_merge=False if options["no_auto_merge"] else None,
            depends_on=options["depends_on"],
            actor=command_actor(),
        )
        answer = submitted.as_json()
        word = "already running" if answer["alreadyRunning"] else "submitted"
        self.stdout.write(f"{answer['prKey']} {word}: {answer['state']}, generation {answer['generation']}")
        for warning in answer["warnings"]:
            self.stdout.write(f"warning: {warning}")

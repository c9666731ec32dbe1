"""`manage.py serve`: web and tasks of one data folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError

from factory_site.serving.parent import Staff, serve
from runs.commands import ProductCommand

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Start and restart the children that serve this data folder."""

    help = "Serve the console, the API and the worker protocol, and run the periodic passes."
    requires_system_checks: list[str] = []  # Django's own shape

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.FACTORY.port)
        parser.add_argument("--with-worker", action="store_true", help="also run one worker on this machine")
        parser.add_argument("--command", metavar="'ARGV'", default="", help="its agent, as for `work`")

    def handle(self, **options: Any) -> None:
        """Serve until a signal."""
        if options["command"] and not options["with_worker"]:
            raise CommandError("--command is for the worker: give --with-worker as well")
        code = serve(
            host=options["host"],
            port=options["port"],
            say=self.say,
            staff=Staff(worker=options["with_worker"], command=options["command"]),
        )
        raise SystemExit(code)

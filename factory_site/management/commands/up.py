"""`manage.py up`: the whole system of one machine in the foreground."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from factory_site.serving.parent import serve
from runs.commands import ProductCommand

MOST_WORKERS = 64


class Command(ProductCommand):
    """Migrate, sync definitions, serve, and keep a fixed number of workers."""

    help = "Run the control plane and its workers in the foreground; Ctrl-C drains the workers, then stops."
    requires_system_checks: list[str] = []  # Django's own shape

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.FACTORY.port)
        parser.add_argument("--workers", default="1", metavar="N", help="how many workers (default 1)")
        parser.add_argument("--command", metavar="'ARGV'", default="", help="agent that the workers run, as for `work`")

    def handle(self, **options: Any) -> None:
        """Run until a signal."""
        code = serve(
            host=options["host"],
            port=options["port"],
            workers=_worker_count(options["workers"]),
            say=self.say,
            command=options["command"],
        )
        raise SystemExit(code)


def _worker_count(text: str) -> int:
    """Read N, or N:N; a pool that grows and shrinks is refused until a supervisor exists."""
    low, _, high = text.partition(":")
    if not low.isdigit() or (high and high != low):
        raise CommandError(f"--workers takes one number, such as 2; a pool from {text} comes with `supervise`")
    if not 1 <= int(low) <= MOST_WORKERS:
        raise CommandError(f"--workers takes 1 to {MOST_WORKERS}, not {low}")
    return int(low)

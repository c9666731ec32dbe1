"""`manage.py up`: the whole system of one machine in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError

from factory_site.serving.parent import Staff, serve
from runs.commands import ProductCommand
from workers.host.options import UsageError
from workers.host.pool.options import read_bounds

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(ProductCommand):
    """Migrate, sync definitions, serve, and look after the pool of this machine."""

    help = "Run the control plane and the pool of this machine in the foreground; Ctrl-C drains the pool, then stops."
    requires_system_checks: list[str] = []  # Django's own shape

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the flags."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.FACTORY.port)
        parser.add_argument(
            "--workers", metavar="MIN:MAX", default="", help="bounds of the pool, or N for N:N; default: the policy's"
        )
        parser.add_argument("--command", metavar="'ARGV'", default="", help="agent that the workers run, as for `work`")

    def handle(self, **options: Any) -> None:
        """Run until a signal."""
        try:
            read_bounds(options["workers"] or None)
        except UsageError as error:
            raise CommandError(error.message) from error
        staff = Staff(pool=True, bounds=options["workers"], command=options["command"])
        raise SystemExit(serve(host=options["host"], port=options["port"], say=self.say, staff=staff))

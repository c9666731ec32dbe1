"""``manage.py work``: checks the flags of a worker and becomes ``python -m workers.host``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workers.handover import become
from workers.host.options import EXIT_USAGE, UsageError, add_flags, check, check_program, flag_names, to_argv


class Command(BaseCommand):
    """One worker, HTTP only, no database."""

    help = "Run one worker: it claims runs over HTTP and executes them one at a time."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The flags are those of the worker itself."""
        add_flags(parser)

    def handle(self, **options: Any) -> None:
        """Replace this process, so that the worker runs without Django; no secret is in its argv."""
        flags = {name: options[name] for name in flag_names(add_flags)}
        try:
            check(flags)
            check_program(flags["agent_command"])
        except UsageError as error:
            raise CommandError(error.message, returncode=EXIT_USAGE) from error
        become("workers.host", to_argv(flags))

"""``manage.py supervise``: checks the flags of a supervisor and becomes ``python -m workers.host.pool``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workers.handover import become
from workers.host.options import EXIT_USAGE, UsageError, check_program, flag_names, to_argv
from workers.host.pool.options import add_flags, check_pool


class Command(BaseCommand):
    """The pool of this machine: it starts workers when work waits, and lets them leave when none does."""

    help = "Run the pool of this machine: as many workers as its bounds and the work demand."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The flags are those of the supervisor itself."""
        add_flags(parser)

    def handle(self, **options: Any) -> None:
        """Replace this process, so that the supervisor runs without Django; no secret is in its argv."""
        flags = {name: options[name] for name in flag_names(add_flags)}
        try:
            check_pool(flags)
            check_program(flags["agent_command"])
        except UsageError as error:
            raise CommandError(error.message, returncode=EXIT_USAGE) from error
        become("workers.host.pool", to_argv(flags))

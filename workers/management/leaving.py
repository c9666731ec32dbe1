"""What the commands share that check their flags and become a program without Django."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from workers.handover import become
from workers.host.options import EXIT_USAGE, UsageError, check_program, flag_names, to_argv


class LeavingCommand(BaseCommand):
    """Takes the flags of the program itself. A wrong one is a line and exit 64; no secret is in the program's argv."""

    requires_system_checks: list[str] = []
    module: str  # what the process becomes
    flags: Callable[[ArgumentParser], None]  # adds them
    checked: Callable[[dict[str, Any]], object]  # raises ``UsageError``

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The flags are those of the program itself."""
        type(self).flags(parser)

    def handle(self, **options: Any) -> None:
        """Replace this process."""
        flags = {name: options[name] for name in flag_names(type(self).flags)}
        try:
            type(self).checked(flags)
            check_program(flags["agent_command"])
        except UsageError as error:
            raise CommandError(error.message, returncode=EXIT_USAGE) from error
        become(self.module, to_argv(flags))

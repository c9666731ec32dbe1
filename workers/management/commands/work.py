"""``manage.py work``: checks the flags of a worker and becomes ``python -m workers.host``."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.contract.stamp import PACKAGE_ROOT
from workers.host.options import EXIT_USAGE, UsageError, add_flags, check, check_program, to_argv


class Command(BaseCommand):
    """One worker, HTTP only, no database."""

    help = "Run one worker: it claims runs over HTTP and executes them one at a time."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The flags are those of the worker itself."""
        add_flags(parser)

    def handle(self, **options: Any) -> None:
        """Replace this process, so that the worker runs without Django; no secret is in its argv."""
        flags = {name: options[name] for name in flag_names()}
        try:
            wanted = check(flags)
            check_program(flags["agent_command"])
        except UsageError as error:
            raise CommandError(error.message, returncode=EXIT_USAGE) from error
        if not (wanted.command or wanted.adapter_override or wanted.adapters or wanted.chore):
            self.stderr.write(
                "note: without --command this worker takes no reviews of pull requests;"
                " for those, start it with: manage.py work --command '/path/to/my-agent'"
            )
        # The package is found from whatever folder the command was called in, as manage.py itself is.
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PACKAGE_ROOT), os.environ.get("PYTHONPATH"))))
        os.execv(sys.executable, [sys.executable, "-m", "workers.host", *to_argv(flags)])  # noqa: S606 -- argv, no shell


def flag_names() -> list[str]:
    """The names of the worker's own flags among those of every management command."""
    parser = ArgumentParser(add_help=False)
    add_flags(parser)
    return [action.dest for action in parser._actions]  # noqa: SLF001 -- argparse has no public list

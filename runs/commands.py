"""What every management command shares: mistakes told in one line, who gave the command, and spans of time."""

from __future__ import annotations

import re
from datetime import timedelta
from getpass import getuser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, ProgrammingError

from runs.contract.errors import FactoryError

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


# Which command shows what a refusal speaks of.
NEXT = {
    "unknown_run": "manage.py runs list",
    "unknown_task": "manage.py tasks list",
    "unknown_pull_request": "manage.py prs list",
    "pull_request_closed": "manage.py prs list",
    "bad_reference": "manage.py prs list",
    "already_answered": "manage.py tasks list",
    "superseded": "manage.py tasks list",
    "already_ended": "manage.py prs list",
    "merge_in_flight": "manage.py prs list",
    "run_at_rest": "manage.py runs list",
    "run_not_extendable": "manage.py runs list",
    "deadline_recorded": "manage.py runs list",
    "subject_moved_on": "manage.py runs list",
    "not_held": "manage.py runs list",
    "unknown_worker": "manage.py workers list",
    "unknown_outbox_row": "manage.py doctor",
    "not_requeueable": "manage.py doctor",
    "run_limit_exceeded": "manage.py runs extend --help",
    "attempts_exhausted": "manage.py runs retry --help",
    "worker_alive": "manage.py workers release --help",
    "proposal_required": "manage.py runs start --help",
    "invalid_answer": "manage.py tasks show ID",
    "stale_question": "manage.py tasks show ID",
    "no_receipt": "manage.py runs list",
    "unknown_pause": "manage.py status",
    "unknown_subject": "manage.py runs list",
}


class ProductCommand(BaseCommand):
    """A command that ends with one line on stderr and exit code 1 for whatever a person can mend."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; an error of the tree, or a database without its tables, becomes ``CommandError``."""
        try:
            return super().execute(*args, **options)
        except FactoryError as error:
            raise refusal(error) from error
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(
                f"the database cannot be used ({error}); start `manage.py serve` once, or look at DATABASE_URL"
            ) from error

    def say(self, sentence: str) -> None:
        """Print at once, also into a file or a pipe: whoever reads along waits for it."""
        self.stdout.write(sentence)
        self.stdout.flush()


def refusal(error: FactoryError) -> CommandError:
    """The error as one line; where a command shows what to do next, it is named."""
    step = NEXT.get(error.code)
    # Faults of files are told together, a line each; anything else is one line.
    sentence = "\n".join(" ".join(line.split()) for line in error.message.splitlines())
    return CommandError(f"{sentence.rstrip('.')}; see: {step}" if step and "manage.py" not in sentence else sentence)


def command_actor() -> str:
    """Who gave the command, as an actor of journals and logs."""
    return f"operator:{getuser()}@cli"


def life_given(text: str) -> timedelta:
    """The span that a person writes after `--expires`; ``CommandError`` says how to write it."""
    match = re.fullmatch(r"([1-9]\d{0,4})([smhd])", text)
    if match is None:
        raise CommandError(f"--expires {text!r} is wrong: write a number with s, m, h or d, such as 90d")
    return timedelta(**{UNITS[match[2]]: int(match[1])})

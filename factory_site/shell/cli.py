"""Hand a command line to Django, once the settings are known to be right; a person's mistake is one line on stderr."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from factory_site.config import SettingsError, load_config

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

USAGE_ERROR = 2
LEAVING, LEAVING_USAGE = frozenset({"supervise", "work"}), 64  # the exit codes of these are read by services
INTERRUPTED = 130  # as a shell has it for SIGINT
READER_GONE = 141  # as a shell has it for SIGPIPE
# What reads or writes the database of this version; `serve` and `up` look for themselves before they migrate.
ON_A_READY_DATABASE = frozenset(
    {
        "backup",
        "credentials",
        "doctor",
        "prs",
        "prune",
        "runs",
        "status",
        "submit",
        "sync_definitions",
        "tasks",
        "tokens",
        "verify_journal",
    }
)
# What lists when it is not told what to do, and words of Django that may stand before the verb.
LISTING = frozenset({"credentials", "prs", "runs", "tasks", "tokens", "workers"})
BEFORE_A_VERB = ("--help", "--version", "--traceback", "--no-color", "--settings", "--pythonpath")


def run(argv: list[str]) -> int:
    """Run one management command and return its exit code; a wrong setting is one line on stderr and exit code 2."""
    if argv in ([], ["help"], ["--help"], ["-h"]):
        from factory_site.shell.commands_listed import commands_text

        sys.stdout.write(commands_text())
        return 0
    if argv[:1] == ["demo"]:
        # It has a data folder of its own; the caller's is neither read nor made.
        from factory_site.demo.__main__ import main as demo

        return demo(argv[1:])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "factory_site.settings")
    try:
        config = load_config()
        config.prepare_home()
        config.secret_key()
    except SettingsError as error:
        _say(str(error))
        return USAGE_ERROR
    if config.authority:  # whatever speaks TLS looks there, also in processes that are started from here
        os.environ["REQUESTS_CA_BUNDLE"] = str(config.authority)
    for sentence in config.settings_invalid:
        _say(f"warning: {sentence}")
    if "--traceback" in argv:
        _execute(argv)
        return 0
    return _one_line(argv)


def _one_line(argv: list[str]) -> int:
    """Run the command; what it could not do is said in one line, `--traceback` shows where."""
    from django.core.exceptions import ImproperlyConfigured
    from django.db import DatabaseError, InterfaceError

    from runs.contract.errors import FactoryError

    try:
        _execute(argv)
    except FactoryError as error:
        _say(error.message)
        return 1
    except (DatabaseError, InterfaceError) as error:
        from factory_site.serving.database import database_sentence

        _say(database_sentence(error))
        return 1
    except ImproperlyConfigured as error:
        _say(f"{' '.join(str(error).split())}; correct it in the environment or in settings.env, then start again")
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered has no reader either
        return READER_GONE
    return 0


def with_verb(argv: list[str]) -> list[str]:
    """The command line with the verb `list` where a command that has it was given none, as in `workers --json`."""
    if argv[:1] and argv[0] in LISTING:
        word = "".join(argv[1:2]).partition("=")[0]
        if not word or (word.startswith("--") and word not in BEFORE_A_VERB):
            return [argv[0], "list", *argv[1:]]
    return argv


def _mistake_told(parser: CommandParser, message: str) -> NoReturn:
    from django.core.management.base import CommandError

    if not parser.called_from_command_line:
        raise CommandError(f"{parser.prog}: {message}")
    code = LEAVING_USAGE if parser.prog.split()[-1] in LEAVING else USAGE_ERROR
    parser.exit(code, f"{parser.prog}: {message}; see: {parser.prog} --help\n")


def _execute(argv: list[str]) -> None:
    from django.core.management import execute_from_command_line
    from django.core.management.base import CommandParser

    CommandParser.error = _mistake_told  # type: ignore[assignment,method-assign]  # Django makes the parsers itself
    argv = with_verb(argv)

    if argv[:1] and argv[0] in ON_A_READY_DATABASE and not {"-h", "--help"} & set(argv):
        import django

        django.setup()
        from factory_site.serving.database import database_check

        database_check(set_up=True)
    execute_from_command_line(["manage.py", *argv])


def _say(sentence: str) -> None:
    sys.stderr.write(f"factory: {sentence}\n")

"""The flags of one worker, checked before anything starts; a mistake is ``UsageError`` and exit 64."""

import argparse
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from runs.contract.errors import Invalid

EXIT_USAGE = 64
LABEL = re.compile(r"(?P<key>[a-z][a-z0-9-]*)=(?P<value>.*)")
OWN_LABELS = ("arch", "os", "isolation", "node")
LEVELS = ("auto", "none", "uid", "bwrap")
AGE = re.compile(r"(?P<days>\d{1,4})d")
POLL_RANGE = (25, 5000)  # milliseconds
DRAIN_RANGE = (0, 3600)  # seconds


class UsageError(Invalid):
    """Wrong flags or an unusable credential: one line that says what to run."""


class FlagParser(argparse.ArgumentParser):
    """Reports a wrong flag as ``UsageError``, so that the exit code is 64."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving the process."""
        raise UsageError("usage", f"{message}; see manage.py {self.prog} --help")


@dataclass(frozen=True, slots=True)
class Options:
    """The flags, typed."""

    url: str | None = None
    credential_file: str | None = None
    labels: Mapping[str, str] | None = None
    adapters: tuple[str, ...] = ()
    command: tuple[str, ...] | None = None
    adapter_override: str | None = None
    isolation: str | None = None
    poll_seconds: float = 0.5
    drain_timeout: float = 60.0
    drain_file: str | None = None
    worker_home: str | None = None
    max_runs: int | None = None
    chore: str | None = None
    older_than_days: int | None = None
    discard: str | None = None


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of ``work``, for the command of the site and for the worker itself."""
    add_shared_flags(parser)
    add = parser.add_argument
    add("--drain-file", metavar="FILE", help="its existence asks the worker to leave at the next safe point")
    chores = parser.add_mutually_exclusive_group()
    chores.add_argument("--list-quarantine", action="store_true", help="print refused results and exit")
    chores.add_argument("--purge-quarantine", action="store_true", help="remove refused results and exit")
    chores.add_argument("--list-kept", action="store_true", help="print kept workspaces and exit")
    chores.add_argument("--discard-kept", metavar="RUN-aN", help="remove one kept workspace and exit")
    add("--older-than", metavar="30d", help="with --purge-quarantine: only entries older than this")


def add_shared_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that a supervisor takes as well and passes on to its workers."""
    add = parser.add_argument
    add("--url", help="address of the control plane; default: the one in the credential file")
    add("--credential-file", metavar="FILE", help="default: secrets/worker-local.json in the data folder")
    add("--label", action="append", default=[], metavar="K=V", help="a label that runs may require; repeatable")
    add("--adapter", action="append", default=[], metavar="NAME", help="offer this adapter; order is preference")
    add(
        "--command", dest="agent_command", metavar="'ARGV'", help="your agent: what works the runs that name no adapter"
    )
    add("--adapter-override", metavar="NAME", help="this adapter executes every run")
    add("--isolation", choices=LEVELS, metavar="LEVEL", help="auto or none")
    add("--poll-ms", type=int, default=500, metavar="MS", help="pause after a claim that did not wait")
    add("--drain-timeout", type=float, default=60.0, metavar="S", help="what a run gets after the first signal")
    add("--worker-home", metavar="DIR", help="workspaces, spool and caches; default: worker in the data folder")
    add("--max-runs", type=int, metavar="N", help="leave after this many attempts")


def parser_of(name: str, description: str) -> argparse.ArgumentParser:
    """A parser without flags for a program that is called ``manage.py <name>``."""
    return FlagParser(prog=name, description=description)


def parse(argv: Sequence[str]) -> Options:
    """The checked options of a command line."""
    parser = parser_of("work", "One worker: claims runs over HTTP and executes them.")
    add_flags(parser)
    return check(vars(parser.parse_args(argv)))


def check(flags: Mapping[str, Any]) -> Options:
    """Typed options out of parsed flags; ``UsageError`` names the flag that is wrong. A flag may be left out."""
    flags = {**_flag_defaults(), **flags}
    if flags["isolation"] in {"uid", "bwrap"}:
        raise UsageError(
            "isolation_unavailable",
            f"--isolation {flags['isolation']} is not available in this version; use --isolation none",
        )
    _within("--poll-ms", flags["poll_ms"], POLL_RANGE)
    _within("--drain-timeout", flags["drain_timeout"], DRAIN_RANGE)
    if flags["max_runs"] is not None and flags["max_runs"] < 1:
        raise UsageError("usage", "--max-runs must be at least 1")
    if flags["older_than"] and not flags["purge_quarantine"]:
        raise UsageError("usage", "--older-than belongs to --purge-quarantine")
    return Options(
        url=flags["url"],
        credential_file=flags["credential_file"],
        labels=_labels(flags["label"]),
        adapters=tuple(dict.fromkeys(flags["adapter"])),
        command=split_command(flags["agent_command"]),
        adapter_override=flags["adapter_override"],
        isolation=flags["isolation"],
        poll_seconds=flags["poll_ms"] / 1000,
        drain_timeout=flags["drain_timeout"],
        drain_file=flags["drain_file"],
        worker_home=flags["worker_home"],
        max_runs=flags["max_runs"],
        chore=next((name for name in ("list_quarantine", "purge_quarantine", "list_kept") if flags[name]), None)
        or ("discard_kept" if flags["discard_kept"] else None),
        older_than_days=_days(flags["older_than"]),
        discard=flags["discard_kept"],
    )


def check_program(text: str | None) -> None:
    """Refuse a command line whose program this machine does not have; a path below the checkout is left alone.

    Only a start by a person asks: a program that goes away later is a fault of the environment of each run.
    """
    argv = split_command(text)
    if argv is None or ("/" in argv[0] and not argv[0].startswith("/")) or shutil.which(argv[0]):
        return
    raise UsageError("usage", f"--command: {argv[0]} is no program here; name an executable file (chmod +x FILE)")


def to_argv(flags: Mapping[str, Any]) -> list[str]:
    """The command line that parses to the same flags."""
    argv: list[str] = []
    names = {"agent_command": "command"}
    for name, value in flags.items():
        flag = "--" + names.get(name, name).replace("_", "-")
        if isinstance(value, bool):
            argv += [flag] if value else []
        elif isinstance(value, list):
            argv += [word for item in value for word in (flag, item)]
        elif value is not None:
            argv += [f"{flag}={value}"]
    return argv


def flag_names(add: Callable[[argparse.ArgumentParser], None]) -> list[str]:
    """The names under which argparse keeps the flags that ``add`` declares."""
    parser = argparse.ArgumentParser(add_help=False)
    add(parser)
    return [action.dest for action in parser._actions]  # noqa: SLF001 -- argparse has no public list


def _flag_defaults() -> dict[str, Any]:
    parser = argparse.ArgumentParser(add_help=False)
    add_flags(parser)
    return vars(parser.parse_args([]))


def _within(flag: str, value: float, bounds: tuple[int, int]) -> None:
    if not bounds[0] <= value <= bounds[1]:
        raise UsageError("usage", f"{flag} must be between {bounds[0]} and {bounds[1]}")


def _labels(given: Sequence[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for text in given:
        match = LABEL.fullmatch(text)
        if match is None:
            raise UsageError("usage", f"--label {text!r} is not key=value with a key of [a-z][a-z0-9-]*")
        key, value = match["key"], match["value"]
        if key in OWN_LABELS or (key.startswith("sandbox-") and value != "no"):
            raise UsageError("usage", f"--label {text}: this label tells what the worker finds and cannot be set")
        labels[key] = value
    return labels


def split_command(text: str | None) -> tuple[str, ...] | None:
    """The argv of an agent, split as a POSIX shell would; ``UsageError`` for what has no end or no word."""
    if text is None:
        return None
    try:
        argv = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError("usage", f"the command cannot be split into arguments: {error}") from error
    if not argv:
        raise UsageError("usage", "the command is empty")
    return argv


def _days(text: str | None) -> int | None:
    if text is None:
        return None
    match = AGE.fullmatch(text)
    if match is None:
        raise UsageError("usage", f"--older-than {text!r} is not a number of days such as 30d")
    return int(match["days"])

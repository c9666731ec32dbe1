"""The flags of a supervisor, checked before anything starts; a mistake is ``UsageError`` and exit 64."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.contract.pool import POOL_PATTERN, bounds_fault
from workers.host.options import Options, UsageError, add_shared_flags, check, flag_names, parser_of, to_argv

INTERVAL_RANGE = (0.1, 60.0)  # seconds
BOUNDS = re.compile(r"(?P<low>\d{1,4})(?::(?P<high>\d{1,4}))?", re.ASCII)
LONGEST_GRACE = 600.0  # seconds that a worker may take to register


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """The flags, typed. ``bounds`` is None where no flag names any; ``interval`` where the server may choose."""

    pool: str
    bounds: tuple[int, int] | None
    interval: float | None
    spawn_grace: float
    once: bool
    worker: Options
    worker_argv: tuple[str, ...]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of ``supervise``, for the command of the site and for the supervisor itself."""
    add = parser.add_argument
    add("--workers", metavar="MIN:MAX", help="bounds of the pool, or N for N:N; default: `workers` of policy.yaml")
    add("--pool", default="main", metavar="NAME", help="name of the pool on this node")
    add("--interval", type=float, metavar="S", help="seconds between two decisions; default 2")
    add("--spawn-grace", type=float, default=10.0, metavar="S", help="what a new worker gets until it has registered")
    add("--once", action="store_true", help="decide and act once, then exit; the workers stay")
    add_shared_flags(parser)


def parse(argv: Sequence[str]) -> PoolOptions:
    """The checked options of a command line."""
    parser = parser_of("supervise", "The pool of this machine: as many workers as its bounds and the work demand.")
    add_flags(parser)
    return check_pool(vars(parser.parse_args(argv)))


def check_pool(flags: Mapping[str, Any]) -> PoolOptions:
    """Typed options out of parsed flags; ``UsageError`` names the flag that is wrong."""
    shared = {name: flags[name] for name in flag_names(add_shared_flags)}
    if not POOL_PATTERN.fullmatch(flags["pool"]):
        raise UsageError("usage", f"--pool {flags['pool']!r} is not a name of a-z, 0-9 and dashes")
    interval = flags["interval"]
    if interval is not None and not INTERVAL_RANGE[0] <= interval <= INTERVAL_RANGE[1]:
        raise UsageError("usage", f"--interval must be between {INTERVAL_RANGE[0]} and {INTERVAL_RANGE[1]:.0f}")
    if not 0 <= flags["spawn_grace"] <= LONGEST_GRACE:
        raise UsageError("usage", f"--spawn-grace must be between 0 and {LONGEST_GRACE:.0f}")
    return PoolOptions(
        pool=flags["pool"],
        bounds=read_bounds(flags["workers"]),
        interval=interval,
        spawn_grace=flags["spawn_grace"],
        once=flags["once"],
        worker=check(shared),
        worker_argv=tuple(to_argv(shared)),
    )


def read_bounds(text: str | None) -> tuple[int, int] | None:
    """``MIN:MAX`` or ``N`` as bounds; ``UsageError`` for anything else."""
    if text is None:
        return None
    match = BOUNDS.fullmatch(text)
    if match is None:
        raise UsageError("usage", f"--workers {text!r} is not MIN:MAX such as 1:3, nor one number")
    bounds = (int(match["low"]), int(match["high"] or match["low"]))
    fault = bounds_fault(*bounds)
    if fault is not None:
        raise UsageError("usage", f"--workers {text}: {fault}")
    return bounds

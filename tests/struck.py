"""How often each named fault of the simulated GitHub struck in a run of the tests, whichever process it ran in."""

from collections import Counter
from collections.abc import Mapping

import pytest

from fixtures.simulator.faults import STRUCK, Faults

_elsewhere: Counter[str] = Counter()  # worlds that lived in another process


def note(times: Mapping[str, int]) -> None:
    """Add counts by name that another process reports."""
    _elsewhere.update(times)


def counts() -> Counter[str]:
    """Every fault's count until now, worlds that are still open left out."""
    return STRUCK + _elsewhere


def never() -> list[str]:
    """The faults that did not strike."""
    return [name for name in Faults.NAMES if not counts()[name]]


def lines() -> list[str]:
    """One line for the end of the run: each fault with its count."""
    found = counts()
    return [", ".join(f"{name} {found[name]}" for name in Faults.NAMES)]


def is_whole_run(config: pytest.Config) -> bool:
    """Whether every test of every ring was asked for, so that a fault without a strike is a fault without a test."""
    chosen = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    options = config.option
    narrowed = options.markexpr or options.keyword or options.collectonly or getattr(options, "lf", False)
    return bool(config.getoption("--require-rings")) and not chosen and not narrowed

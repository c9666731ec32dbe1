"""Every check in one list: for `doctor`, the API, `status` and the console."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runs.clock import now as clock_now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

_log = logging.getLogger(__name__)
EXAMPLES = 5
EVALUATION_SECONDS = 10.0
_lock = threading.Lock()
_recent: list[tuple[float, list[Finding]]] = []


class Level(StrEnum):
    """An anomaly makes `doctor` exit with 1; a notice does not."""

    ANOMALY = "anomaly"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: how often, since when, a sentence, examples by name, and the command that mends it."""

    code: str
    count: int
    since: datetime | None
    text: str
    examples: tuple[str, ...]
    mend: str
    level: Level = Level.ANOMALY

    def document(self) -> dict[str, Any]:
        """As it stands on the wire."""
        return {
            "code": self.code,
            "level": self.level.value,
            "count": self.count,
            "since": self.since,
            "text": self.text,
            "examples": list(self.examples[:EXAMPLES]),
            "mend": self.mend,
        }


def every_check() -> Sequence[Callable[[datetime], Sequence[Finding]]]:
    """The checks in the order in which their findings stand."""
    from factory_site.doctor import (
        clockwork,
        fleet,
        flows,
        forge,
        installation,
        limits,
        machines,
        pools,
        queue,
        storage,
    )

    subjects = (installation, clockwork, flows, queue, limits, pools, fleet, machines, forge, storage)
    return tuple(check for subject in subjects for check in subject.CHECKS)


def findings(checks: Sequence[Callable[[datetime], Sequence[Finding]]] | None = None) -> list[Finding]:
    """What every check found now, anomalies first; a check that fails reports itself. Bounded reads by index."""
    at = clock_now()
    found: list[Finding] = []
    for check in every_check() if checks is None else checks:
        found += _run(check, at)
    return sorted_findings(found)


def sorted_findings(found: Sequence[Finding]) -> list[Finding]:
    """Anomalies first, otherwise as they stand."""
    return sorted(found, key=lambda each: each.level is Level.NOTICE)


def findings_recent() -> list[Finding]:
    """What was found at most 10 s ago by this process: for pages and clients that ask often."""
    with _lock:
        if not _recent or time.monotonic() - _recent[0][0] > EVALUATION_SECONDS:
            _recent[:] = [(time.monotonic(), findings())]
        return list(_recent[0][1])


def findings_forget() -> None:
    """Make the next reader evaluate anew."""
    with _lock:
        _recent.clear()


def _run(check: Callable[[datetime], Sequence[Finding]], at: datetime) -> Sequence[Finding]:
    try:
        return check(at)
    except Exception:  # noqa: BLE001 - one broken check must not hide what the others found
        _log.exception("the check %s failed", check.__name__)
        text = f"the check {check.__name__} could not be made; its fault is in the log"
        return [Finding("check_failed", 1, None, text, (check.__name__,), "manage.py doctor --json")]


def is_well(found: Sequence[Finding]) -> bool:
    """Whether nothing is wrong; notices are no fault."""
    return all(each.level is Level.NOTICE for each in found)

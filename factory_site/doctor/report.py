"""Every check in one list: for `doctor`, the API, `status` and the console."""

from __future__ import annotations

import logging
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
    from factory_site.doctor import clockwork, fleet, forge, limits, queue, storage

    return (
        *clockwork.CHECKS,
        *queue.CHECKS,
        *limits.CHECKS,
        *fleet.CHECKS,
        *forge.CHECKS,
        *storage.CHECKS,
    )


def findings(checks: Sequence[Callable[[datetime], Sequence[Finding]]] | None = None) -> list[Finding]:
    """What every check found now, anomalies first; a check that fails reports itself. Bounded reads by index."""
    at = clock_now()
    found: list[Finding] = []
    for check in every_check() if checks is None else checks:
        found += _run(check, at)
    return sorted(found, key=lambda each: each.level is Level.NOTICE)


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


def findings_stored() -> None:
    """Evaluate every check and keep how many anomalies there are, so that the frame of a page need not."""
    from factory_site.models import DoctorReport

    number = sum(each.count for each in findings() if each.level is Level.ANOMALY)
    DoctorReport.objects.update_or_create(pk=1, defaults={"anomalies": number, "evaluated_at": clock_now()})

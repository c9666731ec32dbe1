"""Passes that are due more often than once a minute: each start is claimed by compare-and-set on its due date."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from runs.clock import now as clock_now
from runs.models.periodic import PeriodicTask

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

LONGEST_GAP = timedelta(seconds=30)  # between two starts; beyond it the machine was suspended, the database blocked
EARLY = timedelta(seconds=0.2)  # a waker whose clock runs ahead of the database's still starts the pass


@dataclass(frozen=True, slots=True)
class Pass:
    """One idempotent function of an app and how often it is due, in seconds."""

    name: str
    seconds: float
    body: Callable[[], object]


class _Nudges:
    """Nudges of one pass in this process: one run at a time, and one more for whatever came during it."""

    def __init__(self) -> None:
        self.running = threading.Lock()
        self.wanted = threading.Event()


_passes: dict[str, Pass] = {}
_nudges: dict[str, _Nudges] = defaultdict(_Nudges)


def register_pass(name: str, *, seconds: float, body: Callable[[], object]) -> None:
    """Have ``body`` run about every ``seconds``, and sooner when somebody nudges it by name."""
    _passes[name] = Pass(name, seconds, body)


def passes() -> list[Pass]:
    """Every registered pass, by name."""
    return [_passes[name] for name in sorted(_passes)]


def periodic_sync() -> None:
    """Make the row of every registered pass exist with its present interval; rows of unknown passes go."""
    now = clock_now()
    for each in passes():
        row, _ = PeriodicTask.objects.get_or_create(
            name=each.name, defaults={"interval_seconds": each.seconds, "due_at": now}
        )
        if row.interval_seconds != each.seconds:
            PeriodicTask.objects.filter(pk=row.pk).update(interval_seconds=each.seconds, due_at=now)
    PeriodicTask.objects.exclude(name__in=[each.name for each in passes()]).delete()


def periodic_run(name: str) -> bool:
    """Run the pass if it is due and this caller wins its start; return whether it ran.

    An exception of the body is recorded on the row and never reaches the caller, so that the next start comes.
    """
    each = _passes[name]
    now = clock_now()
    row = PeriodicTask.objects.filter(name=name, due_at__lte=now + EARLY).first()
    if row is None:
        return False
    resumed = {"resumed_at": now} if _has_paused(row, each, now) else {}
    claimed = PeriodicTask.objects.filter(pk=row.pk, due_at=row.due_at).update(
        due_at=now + timedelta(seconds=each.seconds), started_at=now, ended_at=None, **resumed
    )
    if claimed:
        PeriodicTask.objects.filter(pk=row.pk).update(error=_body_error(each), ended_at=clock_now())
    return bool(claimed)


def periodic_resumed_at(name: str) -> datetime | None:
    """Since when the starts of the pass, by whatever host, have followed each other without a pause; None: unknown."""
    return PeriodicTask.objects.filter(name=name).values_list("resumed_at", flat=True).first()


def _has_paused(row: PeriodicTask, each: Pass, at: datetime) -> bool:
    return row.started_at is None or at - row.started_at > max(LONGEST_GAP, 2 * timedelta(seconds=each.seconds))


def periodic_nudged(name: str) -> None:
    """Run the pass now, because work was committed for it; its schedule stays as it is.

    While a nudged run of it is under way in this process, the nudge makes that one start over instead of taking a
    second thread: many commits beside a slow forge leave the other passes their threads.
    """
    nudges = _nudges[name]
    nudges.wanted.set()
    while nudges.wanted.is_set():
        if not nudges.running.acquire(blocking=False):
            return  # whoever runs it looks at `wanted` again after letting go
        try:
            nudges.wanted.clear()
            error = _body_error(_passes[name])
            if error:
                PeriodicTask.objects.filter(name=name).update(error=error)
        finally:
            nudges.running.release()


def _body_error(each: Pass) -> str:
    """Run the body; return what it raised in one line, blank when nothing."""
    try:
        each.body()
    except Exception as caught:  # noqa: BLE001  # the pass is due again soon; the row says what went wrong
        _log.warning("the pass %s failed", each.name, exc_info=True)
        return f"{type(caught).__name__}: {caught}"[:500]
    return ""


def periodic_due(now: datetime | None = None) -> list[str]:
    """Names of the passes that are due, the longest overdue first."""
    known = list(_passes)
    due = PeriodicTask.objects.filter(name__in=known, due_at__lte=now or clock_now()).order_by("due_at")
    return list(due.values_list("name", flat=True))

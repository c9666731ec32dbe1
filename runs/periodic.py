"""Passes that are due more often than once a minute: each start is claimed by compare-and-set on its due date."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from runs.clock import now as clock_now
from runs.models.periodic import PeriodicTask

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pass:
    """One idempotent function of an app and how often it is due, in seconds."""

    name: str
    seconds: float
    body: Callable[[], object]


_passes: dict[str, Pass] = {}


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


def periodic_run(name: str, *, forced: bool = False) -> bool:
    """Run the pass if it is due (or forced) and this caller wins its start; return whether it ran.

    An exception of the body is recorded on the row and never reaches the caller, so that the next start comes.
    """
    each = _passes[name]
    now = clock_now()
    row = PeriodicTask.objects.filter(name=name).first()
    if row is None or (row.due_at > now and not forced):
        return False
    claimed = PeriodicTask.objects.filter(pk=row.pk, due_at=row.due_at).update(
        due_at=now + timedelta(seconds=each.seconds), started_at=now, ended_at=None
    )
    if not claimed:
        return False
    error = ""
    try:
        each.body()
    except Exception as caught:  # noqa: BLE001  # the pass is due again soon; the row says what went wrong
        _log.exception("the pass %s failed", name)
        error = f"{type(caught).__name__}: {caught}"[:500]
    PeriodicTask.objects.filter(pk=row.pk).update(ended_at=clock_now(), error=error)
    return True


def periodic_due(now: datetime | None = None) -> list[str]:
    """Names of the passes that are due, the longest overdue first."""
    known = list(_passes)
    due = PeriodicTask.objects.filter(name__in=known, due_at__lte=now or clock_now()).order_by("due_at")
    return list(due.values_list("name", flat=True))

"""The time of an agent's step under a pause: what comes due while nothing may begin is set anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from runs.models import Pause
from runs.queue.limits.pauses import covering

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

Span = tuple["datetime", "datetime | None"]  # of a pause: since when, and until when; None: it is in force


def time_over(due_at: datetime, limit: timedelta, *, repository: str, agent: str, at: datetime) -> datetime:
    """When the step's time is over, with every pause that covered the repository or the agent as it came due.

    One read, and none before it is due. While a pause is in force, it is never over.
    """
    if due_at > at:
        return due_at
    rows = Pause.objects.filter(covering(repository=repository, agent=agent)).filter(
        Q(lifted_at=None) | Q(lifted_at__gt=due_at)
    )
    return due_again(due_at, limit, [(row.since, _end(row, at)) for row in rows], at)


def due_again(due_at: datetime, limit: timedelta, pauses: Iterable[Span], at: datetime) -> datetime:
    """The due instant, a whole limit after the end of each pause that it falls into. Pure."""
    for since, until in sorted(pauses, key=lambda span: span[0]):
        if since <= due_at and (until is None or until > due_at):
            due_at = (at if until is None else until) + limit
    return due_at


def _end(pause: Pause, at: datetime) -> datetime | None:
    if pause.lifted_at is not None:
        return pause.lifted_at
    return pause.until if pause.until is not None and pause.until <= at else None

"""What waits and what runs, in numbers: for `status`, its API and the metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runs.flow import RunState
from runs.models import Hold, Run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MOST = 100_000  # of one hold; more are told as so many
LIMITS = (Hold.EXCLUSIVE, Hold.SUBJECT_BUDGET, Hold.RUN_BUDGET)


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Runs that may be claimed, rest after a failure, or are held back; and the ready one of the lowest key."""

    ready: int
    backoff: int
    held: Mapping[str, int] = field(default_factory=dict)
    oldest_ready_at: datetime | None = None

    @property
    def all_held(self) -> int:
        """Held back for whatever reason but a failure."""
        return sum(self.held.values())


def queue_counts() -> QueueCounts:
    """Count the queue by index; each hold costs one bounded read."""
    queued = Run.objects.filter(state=RunState.QUEUED)
    held = {str(hold): queued.filter(hold=hold)[:MOST].count() for hold in LIMITS}
    oldest = queued.filter(hold="").order_by("id").values_list("queued_at", flat=True).first()
    return QueueCounts(
        ready=queued.filter(hold="")[:MOST].count(),
        backoff=queued.filter(hold=Hold.BACKOFF)[:MOST].count(),
        held={hold: count for hold, count in held.items() if count},
        oldest_ready_at=oldest,
    )

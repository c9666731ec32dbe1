"""When a silent worker counts as lost; the derived state of a worker. Pure but for the setting."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from datetime import datetime

    from workers.models import Worker


class WorkerState(StrEnum):
    """What a worker is doing, derived from its row and its attempt; only an idle one takes runs."""

    STOPPED = "stopped"
    LOST = "lost"
    BUSY = "busy"
    DRAINING = "draining"
    BLOCKED = "blocked"
    IDLE = "idle"


def liveness() -> timedelta:
    """How long a silent worker counts as alive."""
    return timedelta(seconds=settings.FACTORY.liveness_seconds)


def worker_state(worker: Worker, *, at: datetime, busy: bool) -> WorkerState:
    """The first state that fits at this instant; ``busy``: it has an unfinished attempt."""
    if worker.stopped_at is not None:
        return WorkerState.STOPPED
    if at - worker.last_seen_at >= liveness():
        return WorkerState.LOST
    if busy:
        return WorkerState.BUSY
    if worker.is_leaving:
        return WorkerState.DRAINING
    return WorkerState.BLOCKED if worker.blocked_reason else WorkerState.IDLE

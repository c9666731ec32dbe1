"""Workers with the state that follows from their row and their attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs.clock import now
from runs.models import Attempt
from workers.liveness import WorkerState, liveness, worker_state
from workers.models import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.db.models import QuerySet

LARGEST_PAGE = 200


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One boot of a worker; ``run_id`` and ``attempt`` belong to its unfinished attempt, if it has one."""

    key: int
    worker_id: str
    node: str
    host: str
    pid: int | None
    pool: str
    slot: int | None
    version: str
    state: WorkerState
    draining: bool
    drain_requested_at: datetime | None
    drain_requested_by: str
    drain_reason: str
    blocked_reason: str
    quarantined: int
    run_id: str | None
    attempt: int | None
    subject_label: str
    heartbeat_due_at: datetime | None
    offer: dict[str, Any]
    health: dict[str, Any]
    clock_skew_ms: int | None
    started_at: datetime
    last_seen_at: datetime
    stopped_at: datetime | None
    stop_reason: str


def workers(
    *, limit: int = 50, before: int | None = None, node: str = "", with_stopped: bool = True
) -> list[WorkerRow]:
    """Workers newest first, at most ``limit`` (≤ 200), those with a smaller key than ``before``; two queries."""
    rows = Worker.objects.order_by("-id")
    if not with_stopped:
        rows = rows.filter(stopped_at__isnull=True)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    if node:
        rows = rows.filter(node=node)
    return worker_rows(rows[: min(limit, LARGEST_PAGE)])


def worker(worker_id: str) -> WorkerRow | None:
    """One worker by its id, or None."""
    return next(iter(worker_rows(Worker.objects.filter(worker_id=worker_id))), None)


def worker_row(row: Worker) -> WorkerRow:
    """This worker with its state and attempt; one query."""
    return worker_rows([row])[0]


def alive(rows: QuerySet[Worker]) -> QuerySet[Worker]:
    """Those that are neither stopped nor lost."""
    return rows.filter(stopped_at__isnull=True, last_seen_at__gt=now() - liveness())


def live_workers() -> list[WorkerRow]:
    """Every worker that is neither stopped nor lost, newest first."""
    return worker_rows(alive(Worker.objects.order_by("-id")))


def worker_counts() -> dict[str, int]:
    """How many workers are idle, busy, draining, blocked; lost ones are those that have not yet been forgotten."""
    counts = {state.value: 0 for state in WorkerState if state is not WorkerState.STOPPED}
    for row in worker_rows(Worker.objects.filter(stopped_at__isnull=True)):
        counts[row.state.value] += 1
    return counts


def worker_rows(rows: Iterable[Worker]) -> list[WorkerRow]:
    """These workers with their states and attempts, in the order given; two queries."""
    at = now()
    found = list(rows)
    open_attempts = Attempt.objects.filter(
        worker_id__in=[row.worker_id for row in found], finished_at__isnull=True
    ).select_related("run")
    held = {attempt.worker_id: attempt for attempt in open_attempts}
    return [_row(row, held.get(row.worker_id), at) for row in found]


def _row(row: Worker, attempt: Attempt | None, at: datetime) -> WorkerRow:
    return WorkerRow(
        key=row.pk,
        worker_id=row.worker_id,
        node=row.node,
        host=row.host,
        pid=row.pid,
        pool=row.pool,
        slot=row.slot,
        version=row.version,
        state=worker_state(row, at=at, busy=attempt is not None),
        draining=row.is_leaving,
        drain_requested_at=row.drain_requested_at,
        drain_requested_by=row.drain_requested_by,
        drain_reason=row.drain_reason,
        blocked_reason=row.blocked_reason,
        quarantined=row.quarantined,
        run_id=attempt.run.run_id if attempt else None,
        attempt=attempt.number if attempt else None,
        subject_label=attempt.run.subject_label or attempt.run.subject if attempt else "",
        heartbeat_due_at=attempt.heartbeat_due_at if attempt else None,
        offer=row.offer,
        health=row.health,
        clock_skew_ms=row.clock_skew_ms,
        started_at=row.started_at,
        last_seen_at=row.last_seen_at,
        stopped_at=row.stopped_at,
        stop_reason=row.stop_reason,
    )

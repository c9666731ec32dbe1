"""The registry of workers: hello, signs of life, bye."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from runs.clock import now
from runs.contract.canonical import document_hash
from runs.contract.errors import Refused
from runs.queue.attempts.release import attempt_release_worker
from runs.rows import row_find
from runs.transactions import joined_transaction, write_transaction
from workers.liveness import liveness
from workers.models import Worker

if TYPE_CHECKING:
    from datetime import datetime

FORGOTTEN_AFTER = timedelta(days=7)
SEEN_STEP = timedelta(seconds=20)  # a waiting claim is a sign of life; more often than this it would only cost writes


@dataclass(frozen=True, slots=True)
class Boot:
    """What a worker says of itself in a hello; ``offer`` and ``health`` are in their wire form."""

    worker_id: str
    node: str
    host: str
    pid: int
    version: str
    offer: dict[str, Any]
    pool: str = ""
    slot: int | None = None
    health: dict[str, Any] = field(default_factory=dict)
    blocked_reason: str = ""
    quarantined: int = 0
    clock: datetime | None = None  # what the worker's clock showed when it sent this


def worker_hello(boot: Boot) -> Worker:
    """Register a boot, or renew what it said. One transaction; called twice it stores the same.

    Raises ``Refused`` (``worker_busy``) when another live process has this worker id.
    """
    at = now()
    with write_transaction():
        held = Worker.objects.select_for_update().filter(worker_id=boot.worker_id).first()
        if held is not None and _is_another_live_boot(held, boot, at):
            raise Refused(
                "worker_busy",
                f"worker id {boot.worker_id} belongs to process {held.pid} on {held.host}, which is alive",
                details={"workerId": held.worker_id, "host": held.host, "pid": held.pid},
            )
        row = held or Worker(worker_id=boot.worker_id, started_at=at)
        _write_boot(row, boot, at)
        row.save()
    return row


def worker_seen(*, worker_id: str, node: str, version: str, offer: dict[str, Any]) -> bool:
    """Keep a sign of life, at most once per 20 s or third of the liveness, and the offer; whether it may take a run.

    It may not once a person asked it to leave.

    A worker that this database does not know (it was restored from a backup) gets a row from what the claim says.
    """
    at = now()
    offer_hash = document_hash(offer)
    row = row_find(Worker, only=("offer_hash", "stopped_at", "last_seen_at", "drain_requested_at"), worker_id=worker_id)
    said = {"version": version, "offer": offer, "offer_hash": offer_hash, "last_seen_at": at}
    if row is None:
        with joined_transaction():
            Worker.objects.get_or_create(worker_id=worker_id, defaults={**said, "node": node, "started_at": at})
    elif row.offer_hash != offer_hash or row.stopped_at is not None or at - row.last_seen_at >= _seen_step():
        with joined_transaction():
            Worker.objects.filter(pk=row.pk).update(**said, stopped_at=None, stop_reason="")
    return row is None or row.drain_requested_at is None


def worker_beat(*, worker_id: str, draining: bool | None) -> None:
    """Keep that the worker of a heartbeat is alive, as seldom as `worker_seen` does.

    Kept at once: that it leaves after its run, or does not any more (None: it did not say).
    """
    at = now()
    row = row_find(Worker, only=("draining", "stopped_at", "last_seen_at"), worker_id=worker_id)
    if row is None or row.stopped_at is not None:
        return
    turns = draining is not None and draining != row.draining
    if turns or at - row.last_seen_at >= _seen_step():
        changes = {"last_seen_at": at, **({"draining": draining} if turns else {})}
        with joined_transaction():
            Worker.objects.filter(pk=row.pk, stopped_at__isnull=True).update(**changes)


def worker_bye(*, worker_id: str, reason: str) -> None:
    """Mark a boot stopped at once, and its attempt due now: the reaper takes it back. Called again: no change."""
    at = now()
    with write_transaction():
        live = Worker.objects.filter(worker_id=worker_id, stopped_at__isnull=True)
        live.update(stopped_at=at, stop_reason=reason, last_seen_at=at)
        attempt_release_worker(worker_id)


def workers_forget(*, limit: int = 500) -> int:
    """Remove rows stopped or lost for seven days, at most ``limit``; how many. Runs keep the worker id as text."""
    before = now() - FORGOTTEN_AFTER
    old = Worker.objects.filter(Q(stopped_at__lt=before) | Q(stopped_at__isnull=True, last_seen_at__lt=before))
    keys = list(old.order_by("id").values_list("pk", flat=True)[:limit])
    with joined_transaction():
        return Worker.objects.filter(pk__in=keys).delete()[0]


def _seen_step() -> timedelta:
    return min(SEEN_STEP, liveness() / 3)


def _is_another_live_boot(held: Worker, boot: Boot, at: datetime) -> bool:
    alive = held.stopped_at is None and at - held.last_seen_at < liveness()
    return alive and held.pid is not None and (held.host, held.pid) != (boot.host, boot.pid)


def _write_boot(row: Worker, boot: Boot, at: datetime) -> None:
    row.node = boot.node
    row.host = boot.host
    row.pid = boot.pid
    row.pool = boot.pool
    row.slot = boot.slot
    row.version = boot.version
    row.offer = boot.offer
    row.offer_hash = document_hash(boot.offer)
    row.health = boot.health
    row.blocked_reason = boot.blocked_reason
    row.quarantined = boot.quarantined
    row.clock_skew_ms = round((boot.clock - at) / timedelta(milliseconds=1)) if boot.clock is not None else None
    row.last_seen_at = at
    row.draining = False
    row.stopped_at = None
    row.stop_reason = ""

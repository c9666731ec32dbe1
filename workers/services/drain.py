"""Asking one worker to leave without reaching its machine: it is told with its next claim."""

from __future__ import annotations

from runs.clock import now
from runs.contract.errors import NotFound, Refused
from runs.contract.instants import format_instant
from runs.transactions import write_transaction
from workers.models import Worker

LONGEST_REASON = 500  # characters


def worker_drain(*, worker_id: str, actor: str, reason: str = "", back: bool = False) -> Worker:
    """Have the worker leave once its run has ended, or with ``back`` let it stay if it has not left yet; its row.

    It is leased nothing from now on, and hears of it within the time that a claim is held. Called again it keeps who
    asked first. Locks the row. Raises NotFound `unknown_worker`, and Refused `already_ended` for one that said bye.
    """
    with write_transaction():
        row = Worker.objects.select_for_update().filter(worker_id=worker_id).first()
        if row is None:
            raise NotFound("unknown_worker", f"There is no worker {worker_id[:120]}.")
        if row.stopped_at is not None:
            raise Refused(
                "already_ended",
                f"{worker_id} has left already; who is here: manage.py workers list.",
                details={"stoppedAt": format_instant(row.stopped_at)},
            )
        if back == (row.drain_requested_at is not None):
            row.drain_requested_at = None if back else now()
            row.drain_requested_by = "" if back else actor
            row.drain_reason = "" if back else reason[:LONGEST_REASON]
            row.save(update_fields=["drain_requested_at", "drain_requested_by", "drain_reason"])
    return row


def worker_may_claim(worker_id: str) -> bool:
    """Whether nobody has asked the worker to leave."""
    return not Worker.objects.filter(worker_id=worker_id, drain_requested_at__isnull=False).exists()

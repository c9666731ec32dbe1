"""Taking a run back from its worker because a person says so."""

from __future__ import annotations

from runs.clock import now
from runs.contract.errors import Refused
from runs.contract.instants import format_instant
from runs.models import Attempt, AttemptOutcome, Run
from runs.queue.attempts.endings import Ending, attempt_failed
from runs.queue.notices import control_changed
from runs.queue.operating.words import reason_detail
from runs.transactions import joined_transaction


def run_release(*, run: Run, worker_id: str, actor: str, force: bool = False, reason: str = "") -> Run:
    """End the attempt that this worker holds as `released_by_operator`; the retry rule queues the run again.

    Locks the run. The worker is told at its held heartbeat and stops its agent. Raises Refused `not_held`, and
    `worker_alive` unless its heartbeat is overdue or ``force``; then nothing is written.
    """
    with joined_transaction():
        at = now()
        locked = Run.objects.select_for_update().get(pk=run.pk)
        attempt = Attempt.objects.filter(run=locked, finished_at=None).first()
        if attempt is None or attempt.worker_id != worker_id:
            holder = attempt.worker_id if attempt else None
            raise Refused(
                "not_held",
                f"{worker_id} does not hold {locked.run_id}, which is {locked.state}",
                details={"runId": locked.run_id, "state": locked.state, "worker": holder},
            )
        if attempt.heartbeat_due_at > at and not force:
            raise Refused(
                "worker_alive",
                f"{worker_id} is heard of; {locked.run_id} is taken back by itself when it falls silent, "
                "or at once when the release is forced",
                details={"runId": locked.run_id, "heartbeatDueAt": format_instant(attempt.heartbeat_due_at)},
            )
        attempt.control_seq += 1
        detail = {"workerId": worker_id, **reason_detail(reason)}
        ending = Ending(AttemptOutcome.FAILED, "released_by_operator", at, detail)
        attempt_failed(locked, attempt, ending, actor=actor)
        control_changed()
    return locked

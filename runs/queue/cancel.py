"""Cancelling a run: at once, in every state before rest; the first committed transaction wins against a result."""

from __future__ import annotations

from runs.clock import now
from runs.contract.errors import Invalid, Refused
from runs.models import Attempt, AttemptOutcome, Run
from runs.queue.attempts.endings import Ending, attempt_end, ended_announced
from runs.queue.journal import Step, run_move
from runs.queue.notices import control_changed
from runs.transactions import joined_transaction

CANCEL_CODES = frozenset(
    {
        "operator_cancel",
        "flow_cancelled",
        "flow_moved_on",
        "generation_replaced",
        "subject_ended",
        "answer_reverted",
        "agent_sla",
        "workflow_deadline",
        "gate_lost_trust",
        "proposal_rejected",
        "proposal_expired",
        "proposal_superseded",
    }
)


def run_cancel(*, run: Run, code: str, actor: str, reason: str = "") -> Run:
    """Cancel the run and end its attempt; the worker learns it from its held heartbeat. Joins a caller's transaction.

    Locks the run. Called twice, or for a run at rest, it raises Refused (`run_at_rest`) and writes nothing.
    """
    if code not in CANCEL_CODES:
        raise Invalid("invalid_field", f"{code} is no cancel code", details={"field": "code"})
    with joined_transaction():
        at = now()
        locked = Run.objects.select_for_update().get(pk=run.pk)
        if locked.is_at_rest:
            raise Refused(
                "run_at_rest",
                f"{locked.run_id} is {locked.state} and cannot be cancelled",
                details={"runId": locked.run_id, "state": locked.state},
            )
        attempt = Attempt.objects.filter(run=locked, finished_at=None).first()
        detail = {"reason": reason} if reason else {}
        if attempt is not None:
            attempt.control_seq += 1
            attempt_end(attempt, Ending(AttemptOutcome.CANCELLED, code, at, detail=detail))
        run_move(locked, "cancel", Step(actor, code, at, attempt, detail))
        ended_announced(locked, at)
        control_changed()
    return locked

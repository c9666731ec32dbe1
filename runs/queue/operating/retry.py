"""Queueing a failed run again because a person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Q

from runs.clock import now
from runs.contract.codes import Cause
from runs.contract.errors import Refused
from runs.flow import LIVE, RunState
from runs.flows.steps import flow_waits_for
from runs.models import Run
from runs.queue.journal import Step, run_move
from runs.queue.notices import work_appeared
from runs.queue.operating.words import reason_detail
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from datetime import datetime


def run_retry(*, run: Run, actor: str, force: bool = False, reason: str = "") -> Run:
    """Put a failed run back into the queue, at its old place in the line; return it.

    Locks the run. The budget for faults of its surroundings begins anew, so that the person who mended them need not
    start from the last try; errors of the agent stay counted, and ``force`` grants one try beyond them. Raises Refused
    `run_not_retryable`, `attempts_exhausted` (not with ``force``) and `subject_moved_on`; then nothing is written.
    """
    with joined_transaction():
        at = now()
        waited_for = not run.flow_type or flow_waits_for(run, lock=True)
        locked = Run.objects.select_for_update().get(pk=run.pk)
        if locked.state != RunState.FAILED:
            raise _not_retryable(locked)
        exhausted = retry_exhausted(locked)
        if exhausted and not force:
            raise Refused(
                "attempts_exhausted",
                f"{locked.run_id} is not tried again: {exhausted}; force the retry to try it once more",
                details={"runId": locked.run_id, "cause": locked.cause},
            )
        if not waited_for or _newer_is_live(locked):
            raise _moved_on(locked)
        _queue_again(locked, actor, "operator_retry_forced" if exhausted else "operator_retry", reason, at)
        work_appeared()
    return locked


def _queue_again(run: Run, actor: str, code: str, reason: str, at: datetime) -> None:
    try:
        with transaction.atomic():
            run_move(
                run,
                "retry",
                Step(actor, code, at, detail=reason_detail(reason)),
                environment_failures=0,
                drain_failures=0,
                usage_limit_failures=0,
            )
    except IntegrityError:  # a run of the same family went live after it was looked for
        raise _moved_on(run) from None


def retry_awaited(run: Run) -> bool:
    """Whether a person may have this failed run tried again: its flow waits for it, and no newer one like it is live.

    At most two reads; locks nothing, so the retry itself may still be refused.
    """
    waits = not run.flow_type or flow_waits_for(run)
    return run.state == RunState.FAILED and waits and not _newer_is_live(run)


def retry_exhausted(run: Run) -> str:
    """Why the retry rule would never try it again, however well its surroundings are; empty when it might."""
    if run.cause == Cause.FATAL:
        return f"it ended with {run.reason_code}, which another try does not mend"
    if run.agent_error_failures >= run.max_attempts:
        return f"its agent failed {run.agent_error_failures} of {run.max_attempts} times"
    return ""


def _newer_is_live(run: Run) -> bool:
    """Whether another run of its family, or with its singleton key, is live: only one of them may be."""
    same = Q()
    if run.family:
        same |= Q(family=run.family)
    if run.singleton_key:
        same |= Q(singleton_key=run.singleton_key)
    return bool(same) and Run.objects.filter(same, state__in=LIVE).exclude(pk=run.pk).exists()


def _moved_on(run: Run) -> Refused:
    what = f"its {run.flow_type} flow has gone on" if run.flow_type else "a newer run of the same kind is live"
    return Refused(
        "subject_moved_on",
        f"nothing waits for {run.run_id} any more: {what}",
        details={"runId": run.run_id, "subject": run.subject},
    )


def _not_retryable(run: Run) -> Refused:
    if run.is_at_rest:
        new = f"submit {run.subject_label or run.subject}" if run.flow_type else f"runs start {run.agent_ref}"
        message = f"{run.run_id} is {run.state}, and only a failed run is tried again; new work starts with: {new}"
    else:
        message = f"{run.run_id} is {run.state}; only a failed run is tried again"
    return Refused("run_not_retryable", message, details={"runId": run.run_id, "state": run.state})

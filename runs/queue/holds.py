"""Looking at holds again, so that a missed release costs one interval and no more."""

from __future__ import annotations

import logging
from datetime import timedelta

from runs.clock import now
from runs.flow import RunState
from runs.models import Attempt, Hold, Run
from runs.queue import ready
from runs.queue.limits.budgets import budget_hold, run_balances
from runs.queue.notices import work_appeared
from runs.transactions import write_transaction

_log = logging.getLogger(__name__)

INTERVAL = timedelta(seconds=15)  # a hold younger than this was looked at by the last pass
BATCH = 200
BUDGET_HOLDS = (Hold.SUBJECT_BUDGET, Hold.RUN_BUDGET)


def holds_pass() -> int:
    """Release due retries and the runs whose exclusive key is free; how many. Two passes at once release each once."""
    with write_transaction():
        released = ready.due_released(now())
        if released:
            work_appeared()
    return released + sum(_look_safely(pk) for pk in ready.held_oldest(now() - INTERVAL, BATCH))


def _look_safely(run_pk: int) -> bool:
    try:
        return _look(run_pk)
    except Exception:  # noqa: BLE001  # one bad row never stops the rest
        Run.objects.filter(pk=run_pk).update(hold_checked_at=now())
        _log.exception("the hold of run %s could not be looked at", run_pk)
        return False


def _look(run_pk: int) -> bool:
    """Derive the hold of one run again; whether it is ready now. The question is asked again under the row's lock."""
    with write_transaction():
        at = now()
        run = Run.objects.select_for_update(of=("self",)).select_related("placement_class").get(pk=run_pk)
        if run.state != RunState.QUEUED or not run.hold:
            return False
        if _is_over(run):
            Run.objects.filter(pk=run_pk, state=RunState.QUEUED).update(hold="", hold_checked_at=None)
            work_appeared()
            return True
        Run.objects.filter(pk=run_pk).update(hold_checked_at=at)
        return False


def _is_over(run: Run) -> bool:
    """Whether what the run is held for has gone; a backoff is released by its instant alone."""
    if run.hold == Hold.EXCLUSIVE:
        return not _key_is_taken(run.exclusive_key)
    if run.hold in BUDGET_HOLDS:
        return budget_hold(run_balances(run)) == Hold.NONE
    return False


def _key_is_taken(exclusive_key: str) -> bool:
    return Attempt.objects.filter(exclusive_key=exclusive_key, finished_at=None).exists()

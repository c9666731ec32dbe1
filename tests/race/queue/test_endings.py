"""A result, a cancel and the reaper that meet at the same instant."""

from functools import partial

import pytest

from runs.contract.errors import Refused
from runs.models import JournalRow, Outbox, Receipt, Result, Run
from runs.queue.attempts.reaper import reaper_pass
from runs.queue.cancel import run_cancel
from runs.queue.claim import ClaimedRun, Empty, run_claim
from runs.queue.holds import holds_pass
from tests.queue_driver import (
    beat,
    claim,
    claim_request,
    completed_body,
    enqueue,
    make_due,
    publish,
    seasoned_reaper,
    worker,
)
from tests.threads import together


def refused_or(body):
    try:
        body()
    except Refused as refused:
        return refused.code
    return "ok"


@pytest.mark.parametrize("batch", range(4))
def test_a_cancel_and_a_result_at_once_end_in_exactly_one_of_both(batch):
    """RU-S9, RU-H8"""
    for _ in range(25):
        run = enqueue()
        attempt = claim()
        codes = together(
            [
                partial(refused_or, partial(publish, attempt, completed_body(attempt))),
                partial(refused_or, partial(run_cancel, run=run, code="operator_cancel", actor="operator:ann")),
            ]
        )
        run.refresh_from_db()
        if run.state == "cancelled":
            assert codes == ["attempt_terminal", "ok"]
        else:
            assert (run.state, codes) == ("completed", ["ok", "run_at_rest"])
        completed = run.state == "completed"
        assert Result.objects.filter(run=run).exists() is completed
        assert Receipt.objects.filter(run=run).exists() is completed
        assert Outbox.objects.filter(key=f"run:{run.run_id}:1").exists() is completed
    assert batch is not None


def test_a_run_whose_generation_was_replaced_is_cancelled_whoever_comes_first():
    """RU-S24"""
    replaced = {"code": "generation_replaced", "actor": "flow:convergence:pull-request:1:2"}
    for number in range(20):
        run = enqueue()
        code, claimed = together(
            [
                partial(refused_or, partial(run_cancel, run=run, **replaced)),
                partial(run_claim, claim_request(worker(number))),
            ]
        )
        run.refresh_from_db()
        assert (run.state, run.reason_code, code) == ("cancelled", "generation_replaced", "ok")
        if isinstance(claimed, ClaimedRun):
            claimed.attempt.refresh_from_db()
            assert claimed.attempt.outcome == "cancelled"
        assert isinstance(run_claim(claim_request()), Empty)


def test_the_same_result_twice_at_once_is_accepted_once_and_answered_twice():
    """WP-H4"""
    enqueue()
    attempt = claim()
    body = completed_body(attempt)
    answers = together([partial(publish, attempt, body, key="same")] * 4)
    assert answers == [answers[0]] * 4
    assert Result.objects.count() == 1
    assert JournalRow.objects.filter(edge="complete").count() == 1


def test_two_reapers_take_a_lost_run_back_once():
    """RU-H16"""
    run = enqueue(maxEnvironmentRetries=3)
    make_due(claim(), silent=True)
    assert sorted(together([partial(reaper_pass, seasoned_reaper())] * 4)) == [0, 0, 0, 1]
    run.refresh_from_db()
    assert (run.state, run.environment_failures) == ("queued", 1)
    assert JournalRow.objects.filter(run=run, edge="fail").count() == 1


def test_a_reaper_and_a_late_heartbeat_agree_on_one_ending():
    for _ in range(20):
        run = enqueue(maxEnvironmentRetries=3)
        attempt = claim()
        make_due(attempt, silent=True)
        code, reaped = together(
            [partial(refused_or, partial(beat, attempt, "leased", 1)), partial(reaper_pass, seasoned_reaper())]
        )
        run.refresh_from_db()
        if reaped:
            assert (run.state, code) == ("queued", "attempt_terminal")
        else:
            assert (run.state, code) == ("leased", "ok")
        run_cancel(run=run, code="operator_cancel", actor="operator:ann")


def test_two_sweeps_release_each_hold_once():
    """RU-H16"""
    runs = [enqueue(maxEnvironmentRetries=3) for _ in range(5)]
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(
        hold="backoff", available_at=runs[0].created_at, hold_checked_at=runs[0].created_at
    )
    assert sum(together([holds_pass] * 4)) == 5

"""Claims that count the same cap at the same instant, and waiting workers that a limit set free."""

import threading
from functools import partial

import pytest

from runs.models import Attempt
from runs.queue.changes import ticks
from runs.queue.claim import ClaimedRun, run_claim
from runs.queue.limits.balance import Amount
from runs.queue.limits.pauses import pause_lift, pause_set
from runs.queue.limits.raises import budget_raise
from runs.queue.wakeup import Watcher
from tests.queue_driver import OFFER, claim, claim_request, completed_body, enqueue, execution, publish, worker
from tests.race.queue.test_wakeup import PATIENCE, until, when_held
from tests.site_policy import edited_policy
from tests.threads import together

BY = "operator:maria"


@pytest.fixture
def watcher():
    """A watcher whose fallback cannot be what wakes anybody in this test."""
    own = Watcher(partial(ticks, fallback_seconds=3600.0))
    yield own
    until(lambda: own._thread is None, "the watcher ends with its last waiter")


@pytest.mark.parametrize(
    ("policy", "most"),
    [
        ("weightClasses: {heavy: {max: 3}}", 3),
        ("weightClasses: {heavy: {perNode: 2}}", 2),
        ("limits: {perRepository: {default: 1}, perAgent: {pr-review: 2}}", 1),
    ],
)
def test_claims_at_once_never_pass_a_cap(policy, most):
    """RU-S18: eight workers of one node and eight runs under a cap."""
    with edited_policy(policy):
        for _ in range(8):
            enqueue(weightClass="heavy")
        outcomes = together([partial(run_claim, claim_request(worker(number))) for number in range(8)])
        assert sum(isinstance(outcome, ClaimedRun) for outcome in outcomes) == most
        assert Attempt.objects.filter(finished_at=None).count() == most


def woken_by(watcher, act):
    """Whether a waiting claim is woken by the act, and by nothing else."""
    woken = threading.Event()

    def wait():
        if watcher.wait_for_claim(OFFER, "lab", PATIENCE):
            woken.set()

    together([wait, lambda: when_held(watcher, 1, act)])
    return woken.is_set()


def test_lifting_a_pause_wakes_a_waiting_worker(watcher):
    """RU-S17"""
    enqueue()
    pause = pause_set(scope="repository", key="acme/shop", reason="freeze", actor=BY)
    assert woken_by(watcher, lambda: pause_lift(pause_id=pause.pk, actor=BY))
    assert isinstance(run_claim(claim_request()), ClaimedRun)


def test_raising_a_budget_wakes_a_waiting_worker(watcher):
    """RU-S25"""
    with edited_policy("budgets: {perSubject: {usd: 1}}"):
        run = enqueue()
        attempt = claim()
        publish(attempt, completed_body(attempt, execution=execution(usage={"costUsd": 1})))
        enqueue()
        assert not isinstance(run_claim(claim_request()), ClaimedRun)
        more = Amount(1_000_000)
        assert woken_by(
            watcher, lambda: budget_raise(scope="subject", key=run.subject, added=more, reason="release", actor=BY)
        )


def test_an_attempt_that_ends_under_a_cap_wakes_a_waiting_worker(watcher):
    with edited_policy("limits: {perAgent: {pr-review: 1}}"):
        enqueue()
        attempt = claim()
        enqueue()
        assert woken_by(watcher, lambda: publish(attempt, completed_body(attempt)))

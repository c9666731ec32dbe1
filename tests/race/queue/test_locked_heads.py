"""A claim passes over the run that another claim holds locked, instead of standing behind it."""

import threading
from functools import partial

import pytest
from django.db import connection, transaction

from runs.models import PlacementClass, Run
from runs.queue import ready
from runs.queue.claim import ClaimedRun, run_claim
from tests.queue_driver import claim_request, enqueue
from tests.threads import BOUND_SECONDS, together

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")


def test_a_claim_takes_the_next_run_while_the_first_is_locked_by_another():
    """The other transaction ends only after the claim was answered: whoever waits for it waits in vain."""
    first, second = enqueue(), enqueue()
    locked, answered = threading.Event(), threading.Event()

    def other():
        with transaction.atomic():
            head = ready.head_of(PlacementClass.objects.get(), lock=True)
            assert head is not None
            assert head.run_pk == first.pk
            locked.set()
            assert answered.wait(BOUND_SECONDS / 2), "the claim stood behind the lock"

    def claim():
        assert locked.wait(BOUND_SECONDS)
        try:
            return run_claim(claim_request())
        finally:
            answered.set()

    outcome = together([other, claim])[1]
    assert isinstance(outcome, ClaimedRun)
    assert outcome.attempt.run_id == second.pk
    assert Run.objects.get(pk=first.pk).state == "queued"


def test_two_claims_at_once_take_two_runs_of_one_class():
    """RU-H2: neither answers empty because the other looks at the head."""
    for number in range(10):
        runs = {enqueue(entry=1000 + 2 * number).pk, enqueue(entry=1001 + 2 * number).pk}
        outcomes = together([partial(run_claim, claim_request()), partial(run_claim, claim_request())])
        assert {outcome.attempt.run_id for outcome in outcomes if isinstance(outcome, ClaimedRun)} == runs

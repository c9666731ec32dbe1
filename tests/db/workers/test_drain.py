"""A person asks a worker to leave: it is leased nothing more, hears of it with its next claim, and may be let stay."""

import uuid
from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.errors import NotFound, Refused
from runs.contract.wire import check_answer
from runs.models import Attempt
from tests.db.workers.queue import queued_run
from workers.models import Worker as Row
from workers.selectors.workers import worker as worker_shown
from workers.services.drain import worker_drain

pytestmark = pytest.mark.django_db


def drain(worker, **fields):
    return worker_drain(worker_id=worker.worker_id, actor="operator:ann", **fields)


def shown_of(worker):
    row = worker_shown(worker.worker_id)
    assert row is not None
    return row


def test_a_worker_that_was_asked_to_leave_is_told_and_leased_nothing_until_it_may_stay(worker):
    run = queued_run()
    worker.hello()
    drain(worker, reason="new disk")
    answer = worker.claim(waitSeconds=20).json()
    check_answer("claim", answer)
    assert (answer["claim"], answer["reason"]) == (None, "draining")
    shown = shown_of(worker)
    assert (shown.state, shown.draining, shown.drain_reason) == ("draining", True, "new disk")
    drain(worker, back=True)
    assert worker.claim().json()["claim"]["runId"] == run.run_id
    assert Row.objects.get().drain_requested_by == ""


def test_an_answer_that_was_lost_is_given_again_to_a_worker_that_leaves(worker):
    queued_run()
    worker.hello()
    key = str(uuid.uuid4())
    leased = worker.claim(key=key).json()["claim"]
    drain(worker)
    assert worker.claim(key=key).json()["claim"]["fencingToken"] == leased["fencingToken"]
    assert shown_of(worker).state == "busy"
    assert Attempt.objects.count() == 1


def test_the_first_who_asked_is_kept_and_another_hello_of_the_same_boot_changes_nothing(worker):
    worker.hello()
    first = drain(worker, reason="new disk").drain_requested_at
    worker_drain(worker_id=worker.worker_id, actor="operator:bob", reason="again")
    worker.hello()
    row = Row.objects.get()
    assert (row.drain_requested_at, row.drain_requested_by, row.drain_reason) == (first, "operator:ann", "new disk")
    worker.boot = "20260830T121503Z.9f3c1b"
    worker.hello(pid=4712)
    assert worker.claim().json()["reason"] == "none_ready", "the next boot is another worker"


def test_who_is_not_there_cannot_be_asked(worker):
    with pytest.raises(NotFound) as unknown:
        drain(worker)
    assert unknown.value.code == "unknown_worker"
    worker.hello()
    Row.objects.update(stopped_at=now() - timedelta(minutes=1))
    with pytest.raises(Refused) as gone:
        drain(worker)
    assert gone.value.code == "already_ended"

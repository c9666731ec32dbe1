"""Runs that a person takes back from their worker."""

import pytest

from runs.contract.errors import NotFound, Refused
from runs.models import JournalRow
from tests.queue_driver import beat, claim, completed_body, enqueue, make_due, publish, worker
from workers.services.release import worker_release

ANN = "operator:ann"


@pytest.fixture
def attempt():
    enqueue(maxEnvironmentRetries=0)
    return claim(worker(1))


def release(attempt, **fields):
    asked = {"worker_id": attempt.worker_id, "run_id": attempt.run.run_id, "actor": ANN, **fields}
    return worker_release(**asked)


def test_a_silent_workers_run_is_taken_back_and_costs_no_budget(attempt):
    make_due(attempt, silent=True)
    run = release(attempt, reason="the machine is gone")
    assert (run.state, run.hold, run.environment_failures) == ("queued", "backoff", 0)
    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.reason_code, attempt.cause) == ("failed", "released_by_operator", "environment")
    fail = JournalRow.objects.get(run=run, edge="fail")
    assert (fail.actor, fail.detail["reason"]) == (ANN, "the machine is gone")
    for late in (lambda: beat(attempt, "running", 1), lambda: publish(attempt, completed_body(attempt))):
        with pytest.raises(Refused) as told:
            late()
        assert told.value.code == "attempt_terminal"


def test_a_live_workers_run_is_taken_back_by_force_alone(attempt):
    with pytest.raises(Refused) as told:
        release(attempt)
    assert told.value.code == "worker_alive"
    attempt.refresh_from_db()
    assert not attempt.is_finished
    seen = attempt.control_seq
    assert release(attempt, force=True).state == "queued"
    attempt.refresh_from_db()
    assert attempt.control_seq == seen + 1  # its held heartbeat is answered


@pytest.mark.parametrize("changes", [{"worker_id": worker(2)}, {}], ids=["another worker", "already taken back"])
def test_what_the_worker_does_not_hold_is_not_taken_from_it(attempt, changes):
    enqueue()
    claim(worker(2))
    if not changes:
        release(attempt, force=True)
    rows = JournalRow.objects.count()
    with pytest.raises(Refused) as told:
        release(attempt, force=True, **changes)
    assert told.value.code == "not_held"
    assert JournalRow.objects.count() == rows


def test_workers_and_runs_that_nobody_knows_are_named(attempt):
    for changes, code in (({"worker_id": worker(9)}, "unknown_worker"), ({"run_id": "run_x"}, "unknown_run")):
        with pytest.raises(NotFound) as told:
            release(attempt, **changes)
        assert told.value.code == code

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.wire import check_answer
from runs.models import Attempt, JournalRow, TraceRow, Usage
from runs.queue.cancel import run_cancel
from runs.queue.limits.balance import Amount
from runs.queue.limits.raises import budget_raise
from tests.db.workers.jobs import Job
from tests.db.workers.wire import code, worker_on
from workers.models import Worker as Row
from workers.services.credentials import credential_revoke

pytestmark = pytest.mark.django_db
USAGE = {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 0, "cacheWriteTokens": 0, "costUsd": 0.5}


@pytest.fixture
def held(worker):
    worker.hello()
    return Job(worker)


def test_heartbeats_take_the_run_along_and_renew_the_liveness_alone(held):
    before = Attempt.objects.get()
    response = held.beat(1, "leased")
    check_answer("heartbeat", response.json())
    assert response.json()["cancel"] == {"requested": False, "reason": None}
    assert response.json()["agentDeadlineAt"] is None
    assert held.state() == "leased"
    after = Attempt.objects.get()
    assert after.heartbeat_due_at > before.heartbeat_due_at
    assert after.deadline_at == before.deadline_at
    assert held.beat(2, "running", usage=USAGE).json()["agentDeadlineAt"] is not None
    assert held.state() == "running"
    assert held.beat(3, "verifying").status_code == 200
    assert held.state() == "verifying"
    assert Usage.objects.get().input_tokens == 100


def test_a_repeated_heartbeat_writes_nothing_again(held):
    """WP-H4 the same sequence with the same body is answered from the current state; a lower one is ignored."""
    held.beat(1, "running", waitSeconds=0)
    rows = JournalRow.objects.count()
    due = Attempt.objects.get().heartbeat_due_at
    assert held.beat(1, "running", waitSeconds=0.001).status_code == 200
    assert held.beat(0 + 1, "running").status_code == 200
    assert (JournalRow.objects.count(), Attempt.objects.get().heartbeat_due_at) == (rows, due)
    held.beat(5, "running")
    assert held.beat(4, "verifying").status_code == 200
    assert held.state() == "running"


def test_the_same_sequence_with_another_body_is_a_conflict(held):
    held.beat(1, "leased")
    response = held.beat(1, "running")
    assert (response.status_code, code(response)) == (409, "heartbeat_conflict")
    assert held.state() == "leased"


def test_a_phase_never_goes_back(held):
    held.beat(1, "running")
    response = held.beat(2, "leased")
    assert (response.status_code, code(response)) == (409, "illegal_phase")


def test_after_a_cancel_every_heartbeat_says_so_and_the_last_usage_counts(held):
    """WP-S11 what the worker is told after a cancel, and that its final usage is charged."""
    held.beat(1, "running")
    run_cancel(run=held.run, code="operator_cancel", actor="operator:test")
    told = held.beat(2, "running").json()["cancel"]
    assert told == {"requested": True, "reason": "operator_cancel"}
    response = held.beat(3, "stopped", usage=USAGE)
    assert response.json()["cancel"]["requested"]
    assert Usage.objects.get().output_tokens == 10
    assert held.state() == "cancelled"


@pytest.mark.parametrize(
    "changes",
    [{"fencingToken": "999999"}, {"attempt": 2}],
    ids=["another token", "another attempt"],
)
def test_a_write_that_is_not_the_newest_attempts_is_fenced_and_leaves_one_journal_row(held, changes):
    rows = JournalRow.objects.count()
    response = held.beat(1, "running", **changes)
    assert (response.status_code, code(response)) == (409, "fenced")
    assert response.json()["error"]["details"] == {"currentAttempt": 1}
    assert held.state() == "leased"
    assert [row.kind for row in JournalRow.objects.order_by("id")[rows:]] == ["fenced"]


def test_another_boot_of_the_node_is_fenced(held):
    held.worker.boot = "20260830T131502Z.aaaaaa"
    response = held.beat(1, "running")
    assert (response.status_code, code(response)) == (409, "fenced")


def test_the_run_of_another_node_does_not_exist(held):
    """WP-S18 a run that this node never held: 404, whatever else the request says."""
    other = worker_on("labor")
    held.worker = other
    response = held.beat(1, "running")
    assert (response.status_code, code(response)) == (404, "not_found")
    response = held.trace(1)
    assert (response.status_code, code(response)) == (404, "not_found")


def test_nothing_is_accepted_after_the_lease(held):
    held.beat(1, "leased")
    Attempt.objects.update(deadline_at=now())
    response = held.beat(2, "running")
    assert (response.status_code, code(response)) == (409, "lease_expired")
    assert Attempt.objects.get().reason_code == "lease_expired"
    response = held.beat(3, "running")
    assert (response.status_code, code(response)) == (409, "attempt_terminal")


def test_the_agents_deadline_is_recorded_when_it_has_passed(held):
    held.beat(1, "running")
    ahead = held.beat(2, "running", atDeadline=True).json()
    assert "deadlineRecorded" not in ahead
    Attempt.objects.update(agent_deadline_at=now())
    assert held.beat(3, "running", atDeadline=True).json()["deadlineRecorded"] is True


def test_trace_rows_are_stored_once(held):
    response = held.trace(41, 42)
    check_answer("trace", response.json())
    assert (response.json()["nextSeq"], response.json()["full"]) == (43, False)
    assert held.trace(42, 44).json()["nextSeq"] == 45
    assert list(TraceRow.objects.order_by("seq").values_list("seq", flat=True)) == [41, 42, 44]


def test_trace_of_a_stale_attempt_is_fenced(held):
    response = held.trace(1, fencingToken="999999")
    assert (response.status_code, code(response)) == (409, "fenced")
    assert not TraceRow.objects.exists()


def test_a_draining_worker_says_so_with_its_heartbeat(held):
    held.beat(1, "running", draining=True)
    assert Row.objects.get().draining


@pytest.mark.parametrize("leave", ["bye", "revoke"])
def test_an_attempt_whose_worker_leaves_is_due_now(held, leave):
    if leave == "bye":
        assert held.worker.post("/worker/v1/bye", {"reason": "stopped"}).status_code == 200
    else:
        credential_revoke(node="lab", prefix=None, actor="operator:test")
    assert Attempt.objects.get().heartbeat_due_at <= now()


@pytest.mark.parametrize("size", [32 * 1024, 512 * 1024])
def test_a_body_above_its_limit_is_not_parsed(held, size):
    path = "heartbeat" if size < 100_000 else "trace"
    response = held.worker.post(f"/worker/v1/runs/{held.run_id}/{path}", b"{" + b" " * size)
    assert (response.status_code, code(response)) == (413, "too_large")


def test_a_missing_or_mistyped_field_names_its_path(held):
    response = held.beat("1", "running")
    assert (response.status_code, code(response)) == (400, "malformed")
    assert response.json()["error"]["details"] == {"path": "$.sequence"}
    assert held.beat(1, "running", unknown={"field": 1}).status_code == 200


def test_a_heartbeat_late_for_its_liveness_but_before_the_reaper_goes_on(held):
    Attempt.objects.update(heartbeat_due_at=now() - timedelta(seconds=5))
    assert held.beat(1, "running").status_code == 200
    assert Attempt.objects.get().heartbeat_due_at > now()
    assert not JournalRow.objects.filter(edge="fail").exists()


def test_a_heartbeat_repeats_what_the_run_may_still_spend(worker):
    worker.hello()
    job = Job(worker, budget={"usd": 1.5})
    assert job.claim["budgetLeft"] == {"usd": 1.5, "tokens": None}
    added = Amount(500_000)
    budget_raise(scope="run", key=job.run_id, added=added, reason="nearly done", actor="operator:maria")
    answer = job.beat(1, "running").json()
    check_answer("heartbeat", answer)
    assert answer["budgetLeft"] == {"usd": 2.0, "tokens": None}

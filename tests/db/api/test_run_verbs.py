"""What an operator may do to runs, over HTTP: codes, roles and bodies."""

import pytest

from runs.clock import now
from runs.models import JournalRow, Outbox, Run
from runs.outbox.dispatch import MOST_TRIES
from runs.outbox.write import outbox_add
from tests import queue_driver as queue
from tests.db.api.conftest import error
from tests.site_agents import load_reader, started
from workers.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _site(tmp_path):
    load_reader(tmp_path)


@pytest.fixture
def running():
    run = started()
    attempt = queue.claim(queue.worker(1))
    queue.beat(attempt, "running", 1)
    run.refresh_from_db()
    return run


@pytest.fixture
def failed(running):
    attempt = running.attempts.get()
    queue.publish(attempt, queue.failed_body(attempt, "policy_denied"))
    running.refresh_from_db()
    return running


def last(run):
    return JournalRow.objects.filter(run=run).latest("seq")


def test_a_run_is_started_once_for_one_key(operator):
    body = {"agent": "log-reader@1", "input": {"log": "boom"}, "subject": "host:build-7"}
    key = {"Idempotency-Key": "3c0c9d64-7c3e-4c1c-8f5e-0d9f4f0f6a11"}
    first = operator.post("/api/v1/runs", body, **key)
    again = operator.post("/api/v1/runs", body, **key)
    run = Run.objects.get()
    assert (first.status_code, first.json()) == (202, {"runId": run.run_id, "created": True})
    assert again.json() == {"runId": run.run_id, "created": False}
    assert error(operator.post("/api/v1/runs", {**body, "input": {"log": "x"}}, **key), 409)["code"] == (
        "idempotency_conflict"
    )
    row = operator.get("/api/v1/runs?subject=host:build-7").json()["items"][0]
    assert (row["origin"], row["reason"]["code"]) == ("operator", "operator_start")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"agent": "nobody", "input": {}}, 400, "unknown_definition"),
        ({"agent": "log-reader", "input": {"log": 7}}, 400, "invalid_input"),
        ({"agent": "log-reader", "input": []}, 400, "invalid_input"),
        ({"agent": "log-reader"}, 400, "invalid_field"),
        ({"agent": "log-reader", "input": {}, "priority": 9}, 400, "invalid_field"),
        ({"agent": "log-reader", "input": {"log": "x" * 300_000}}, 422, "too_large"),
        ({"agent": "pr-review", "input": queue.variables()}, 409, "proposal_required"),
    ],
)
def test_a_start_that_is_refused_has_the_code_of_its_fault(operator, body, status, code):
    assert error(operator.post("/api/v1/runs", body), status)["code"] == code
    assert not Run.objects.exists()


def test_a_running_agent_gets_more_time(operator, running):
    path = f"/api/v1/runs/{running.run_id}"
    before = running.attempts.get().deadline_at
    row = operator.post(f"{path}/extend", {"seconds": 900, "reason": "nearly done"}).json()
    assert row["deadlineAt"] > operator_time(before)
    assert last(running).detail["reason"] == "nearly done"
    detail = operator.get(path).json()
    assert [each["kind"] for each in detail["journal"]].count("extension") == 1


def operator_time(at):
    return at.strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize("seconds", [0, 3601, 1.5, "60", None])
def test_an_extension_names_what_is_wrong_with_its_seconds(operator, running, seconds):
    told = error(operator.post(f"/api/v1/runs/{running.run_id}/extend", {"seconds": seconds}), 400)
    assert (told["code"], told["details"]) == ("invalid_seconds", {"field": "seconds"})


def test_an_extension_is_refused_in_the_words_of_its_reason(operator, running):
    path = f"/api/v1/runs/{running.run_id}/extend"
    for _ in range(2):
        assert operator.post(path, {"seconds": 3600}).status_code == 200
    assert error(operator.post(path, {"seconds": 3600}), 409)["code"] == "run_limit_exceeded"
    assert operator.post(path, {"seconds": 3600, "override": True}).status_code == 200
    running.attempts.update(deadline_recorded_at=now())
    assert error(operator.post(path, {"seconds": 60}), 409)["code"] == "deadline_recorded"
    queued = started()
    assert error(operator.post(f"/api/v1/runs/{queued.run_id}/extend", {"seconds": 60}), 409)["code"] == (
        "run_not_extendable"
    )
    assert error(operator.post("/api/v1/runs/run_x/extend", {"seconds": 60}), 404)["code"] == "unknown_run"


def test_a_failed_run_is_queued_again_by_force_when_it_has_to_be(operator, failed):
    path = f"/api/v1/runs/{failed.run_id}/retry"
    assert error(operator.post(path), 409)["code"] == "attempts_exhausted"
    row = operator.post(path, {"force": True, "reason": "the policy was wrong"}).json()
    assert (row["state"], row["reason"]["code"]) == ("queued", "operator_retry_forced")
    assert last(failed).detail["reason"] == "the policy was wrong"
    assert error(operator.post(path, {"force": True}), 409)["code"] == "run_not_retryable"
    assert error(operator.post(path, {"force": "yes"}), 400)["details"] == {"field": "force"}


def test_a_run_is_taken_back_from_its_worker(operator, running):
    path = f"/api/v1/workers/{queue.worker(1)}/release"
    body = {"runId": running.run_id}
    assert error(operator.post(path, body), 409)["code"] == "worker_alive"
    row = operator.post(path, {**body, "force": True}).json()
    assert (row["state"], row["failures"]) == ("queued", {"environment": 0, "agentError": 0})
    assert error(operator.post(path, {**body, "force": True}), 409)["code"] == "not_held"
    assert error(operator.post("/api/v1/workers/nobody/release", body), 404)["code"] == "unknown_worker"
    assert error(operator.post(path, {}), 400)["details"] == {"field": "runId"}


def test_a_worker_is_asked_to_leave_and_let_stay(operator, running):
    at = now()
    held = Worker.objects.create(worker_id=queue.worker(1), node="lab", started_at=at, last_seen_at=at)
    path = f"/api/v1/workers/{held.worker_id}/drain"
    row = operator.post(path, {"reason": "new disk"}).json()
    assert (row["state"], row["draining"], row["drainReason"], row["runId"]) == (
        "busy",
        True,
        "new disk",
        running.run_id,
    )
    assert row["drainRequestedBy"].startswith("operator:")
    assert operator.post(path, {"back": True}).json()["draining"] is False
    assert error(operator.post(path, {"back": "yes"}), 400)["details"] == {"field": "back"}
    assert error(operator.post("/api/v1/workers/nobody/drain"), 404)["code"] == "unknown_worker"


def test_a_dead_delivery_is_given_new_tries_and_its_consumer_still_looks_before_it_acts(operator):
    row = outbox_add(topic="flow.effect", key="k", stream="s", payload={})
    path = f"/api/v1/outbox/{row.pk}/requeue"
    assert error(operator.post(path), 409)["code"] == "not_requeueable"
    Outbox.objects.filter(pk=row.pk).update(dead_at=now(), tries=MOST_TRIES)
    assert operator.post(path).json()["requeuedBy"].startswith("operator:")
    row.refresh_from_db()
    assert (row.dead_at, row.tries) == (None, 1)
    Outbox.objects.filter(pk=row.pk).update(done_at=now())
    assert error(operator.post(path), 409)["code"] == "not_requeueable"
    assert error(operator.post("/api/v1/outbox/99999999999999999999/requeue"), 404)["code"] == "unknown_outbox_row"


def test_runs_are_found_by_worker_reason_cause_and_adapter(operator, failed):
    other = started()
    for query, found in (
        (f"worker={queue.worker(1)}", failed),
        ("reason=policy_denied", failed),
        ("cause=fatal", failed),
        ("adapter=command", failed),
        ("reason=operator_start", other),
    ):
        rows = operator.get(f"/api/v1/runs?{query}").json()["items"]
        assert [row["runId"] for row in rows] == [found.run_id], query
    assert error(operator.get("/api/v1/runs?cause=bad-luck"), 400)["details"] == {"field": "cause"}


def test_a_run_in_detail_has_usage_receipt_and_where_it_came_from(operator, running):
    attempt = running.attempts.get()
    body = queue.completed_body(attempt, {"verdict": "FLAKE"})
    body["result"]["outputContract"] = "site.log-reader/v1"
    queue.publish(attempt, body)
    found = operator.get(f"/api/v1/runs/{running.run_id}").json()
    assert found["receipt"]["receiptHash"] == found["receiptHash"]
    assert (found["usage"]["inputTokens"], found["usage"]["costUsd"], found["costUsd"]) == (100, 0.25, 0.25)
    assert found["lineage"] == {
        "origin": "operator",
        "correlationId": running.correlation_id,
        "causationId": None,
        "flow": None,
    }

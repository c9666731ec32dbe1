from datetime import timedelta

import pytest

from runs.clock import now
from runs.models import Artifact, ArtifactGrant, Attempt, JournalRow, Outbox, Receipt, Result, Run, TraceRow, Usage
from runs.queue.attempts import fence
from runs.queue.attempts.reaper import Grace, reaper_pass
from runs.queue.audit import journal_faults
from tests.db.workers.jobs import Job, ref
from tests.db.workers.wire import code, worker_on

pytestmark = pytest.mark.django_db
LATE = {"usage": {"inputTokens": 9999, "outputTokens": 9999, "costUsd": 9.0}}


@pytest.fixture
def first(worker):
    """A worker that executes, and then falls silent until its run is taken back."""
    job = Job(worker)
    assert job.beat(1, "running").status_code == 200
    assert job.upload(b"work of A").status_code == 201
    Attempt.objects.update(heartbeat_due_at=now() - timedelta(seconds=1))
    at = now()
    assert reaper_pass(Grace(judged_from=at)) == 1
    assert Run.objects.get().state == "queued"
    Run.objects.update(hold="", available_at=None, hold_checked_at=None)
    return job


@pytest.fixture
def second(first):
    return Job(worker_on("labor"), run=first.run)


def requests_of(job):
    """Every request that the older attempt may still send."""
    return {
        "heartbeat": job.beat(2, "running", **LATE),
        "trace": job.trace(1),
        "upload": job.upload(b"late work of A"),
        "result": job.publish(job.completed([ref(b"work of A")])),
        "unfit result": job.publish(job.completed(outputContract="other/v1")),
        "failure": job.publish(job.failed("agent_exit")),
    }


def written():
    """What no request of the older attempt may touch; its journal rows are looked at apart."""
    tables = (Result, Receipt, Usage, ArtifactGrant, Artifact, TraceRow, Outbox, Attempt)
    rows = [list(table.objects.order_by("pk").values()) for table in tables]
    state = Run.objects.values("state", "attempt_number", "fencing_token", "reason_code").get()
    return rows, state


@pytest.mark.parametrize("moment", ["claimed", "running", "verifying", "completed"])
def test_whatever_the_newer_attempt_is_doing_the_older_one_changes_nothing(first, second, moment):
    """WP-H3 at each moment of the newer attempt the older one's requests are fenced and leave journal rows alone."""
    steps = ["claimed", "running", "verifying", "completed"]
    for number, step in enumerate(steps[1 : steps.index(moment) + 1], 1):
        answer = second.publish(second.completed()) if step == "completed" else second.beat(number, step)
        assert answer.status_code == 200
    before = written()
    rows = JournalRow.objects.count()
    answers = requests_of(first)
    assert {name: (answer.status_code, code(answer)) for name, answer in answers.items()} == dict.fromkeys(
        answers, (409, "fenced")
    )
    assert written() == before
    assert [row.kind for row in JournalRow.objects.order_by("id")[rows:]] == ["fenced"] * len(answers)


def test_a_worker_that_does_not_take_no_for_an_answer_fills_no_journal(first, second, monkeypatch):
    monkeypatch.setattr(fence, "MOST_FENCED", 3)
    for number in range(2, 7):
        assert code(first.beat(number, "running")) == "fenced"
    assert JournalRow.objects.filter(kind="fenced").count() == 3
    assert list(journal_faults()) == []
    assert second.publish(second.completed()).status_code == 200


def test_after_a_split_brain_one_result_exists_and_it_is_the_second_workers(first, second):
    """WP-S1 A resumes after B completed: one result, one receipt, one event, all B's."""
    assert second.publish(second.completed()).status_code == 200
    requests_of(first)
    assert Result.objects.get().attempt.number == 2
    assert Receipt.objects.get().attempt.node == "labor"
    assert [row.key for row in Outbox.objects.filter(topic="run.completed")] == [f"run:{first.run_id}:2"]


def test_a_failed_submission_that_was_fenced_never_changes_the_retry_counts(first, second):
    before = Run.objects.values("environment_failures", "agent_error_failures").get()
    first.publish(first.failed("agent_exit"))
    assert Run.objects.values("environment_failures", "agent_error_failures").get() == before
    assert second.beat(1, "running").status_code == 200

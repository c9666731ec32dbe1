"""Which writes of an attempt count."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.codes import Phase
from runs.contract.errors import NotFound, Refused
from runs.models import Attempt, JournalRow, Outbox, PeriodicTask, Result, Usage
from runs.queue.attempts.heartbeat import Heartbeat, attempt_heartbeat
from runs.queue.attempts.reaper import Grace, reaper_pass
from runs.queue.attempts.release import attempt_release_node, attempt_release_worker
from runs.queue.attempts.trace import trace_append
from tests.queue_driver import (
    beat,
    claim,
    completed_body,
    enqueue,
    make_due,
    presented,
    publish,
    release_backoff,
    seasoned_reaper,
    worker,
)


def code_of(call, *arguments, **fields):
    with pytest.raises(Refused) as refused:
        call(*arguments, **fields)
    return refused.value.code


def test_an_older_attempt_changes_nothing_but_the_journal():
    """RU-S3, RU-H7, WP-H3"""
    run = enqueue(maxEnvironmentRetries=3)
    old = claim(worker(1))
    beat(old, "running", 1)
    make_due(old, silent=True)
    assert reaper_pass(seasoned_reaper()) == 1
    run.refresh_from_db()
    assert (run.state, run.hold, run.reason_code) == ("queued", "backoff", "retry_environment")
    release_backoff(run)
    new = claim(worker(2))
    assert new.pk > old.pk

    assert code_of(beat, old, "running", 2) == "fenced"
    assert code_of(publish, old, completed_body(old)) == "fenced"
    row = {"seq": 1, "at": "2026-08-30T12:00:00Z", "kind": "assistant_text", "payload": {}}
    assert code_of(trace_append, presented(old), [row]) == "fenced"
    fenced = JournalRow.objects.filter(run=run, kind="fenced")
    assert [row.detail["operation"] for row in fenced.order_by("seq")] == ["heartbeat", "result", "trace"]
    assert {row.detail["presentedToken"] for row in fenced} == {old.token}
    assert not Result.objects.exists()
    assert not Usage.objects.exists()
    assert not Outbox.objects.exists()
    run.refresh_from_db()
    assert run.state == "leased"
    publish(new, completed_body(new))
    assert Result.objects.get().attempt == new


@pytest.mark.parametrize(
    "changes",
    [{"token": "999999"}, {"worker_id": worker(5)}, {"attempt": 2}],
    ids=["another token", "another boot", "another number"],
)
def test_what_was_not_claimed_by_the_sender_is_fenced(changes):
    enqueue()
    attempt = claim(worker(1))
    before = JournalRow.objects.count()
    beating = Heartbeat(1, Phase.RUNNING, "sha256:" + "0" * 64)
    assert code_of(attempt_heartbeat, presented(attempt, **changes), beating) == "fenced"
    assert JournalRow.objects.count() == before + 1
    attempt.refresh_from_db()
    assert attempt.phase == "leased"


def test_a_run_of_another_node_does_not_exist_for_this_one():
    """WP-S18"""
    enqueue()
    attempt = claim(worker(1, "lab"))
    with pytest.raises(NotFound):
        attempt_heartbeat(
            presented(attempt, node="den", worker_id=worker(1, "den")),
            Heartbeat(1, Phase.RUNNING, "sha256:" + "0" * 64),
        )
    assert not JournalRow.objects.filter(kind="fenced").exists()


def test_nothing_is_accepted_at_the_deadline_and_the_reapers_edge_is_taken_at_once():
    """RU-H4"""
    run = enqueue(maxEnvironmentRetries=0)
    attempt = claim()
    make_due(attempt, expired=True)
    assert code_of(publish, attempt, completed_body(attempt)) == "lease_expired"
    run.refresh_from_db()
    assert (run.state, run.reason_code) == ("failed", "lease_expired")
    assert code_of(publish, attempt, completed_body(attempt)) == "attempt_terminal"
    assert JournalRow.objects.filter(run=run, edge="fail").count() == 1
    assert not Result.objects.exists()


def test_a_deadline_that_passes_while_the_agent_runs_is_a_time_out():
    run = enqueue()
    attempt = claim()
    beat(attempt, "running", 1)
    make_due(attempt, expired=True)
    assert reaper_pass(Grace()) == 1
    run.refresh_from_db()
    assert (run.state, run.reason_code, run.hold) == ("timed_out", "deadline_passed", "")


def test_a_late_heartbeat_before_the_reapers_look_renews_the_attempt():
    """RU-S5"""
    run = enqueue()
    attempt = claim()
    make_due(attempt, silent=True)
    lease = beat(attempt, "leased", 1)
    assert lease.heartbeat_due_at > lease.server_time
    assert reaper_pass(seasoned_reaper()) == 0
    assert not JournalRow.objects.filter(run=run, edge="fail").exists()


def test_silence_is_not_judged_when_the_passes_of_every_host_have_paused():
    """RU-S4"""
    enqueue()
    make_due(claim(), silent=True)
    row = PeriodicTask.objects.create(name="reaper", interval_seconds=5, due_at=now(), resumed_at=now())
    assert reaper_pass(seasoned_reaper()) == 0
    PeriodicTask.objects.filter(pk=row.pk).update(resumed_at=now() - timedelta(seconds=90))
    assert reaper_pass(seasoned_reaper()) == 1


def test_silence_is_not_judged_right_after_a_start_but_deadlines_are():
    """RU-S4"""
    enqueue(maxEnvironmentRetries=3)
    silent = claim()
    make_due(silent, silent=True)
    enqueue(maxEnvironmentRetries=3)
    expired = claim()
    make_due(expired, silent=True, expired=True)
    assert reaper_pass(Grace()) == 1
    silent.refresh_from_db()
    expired.refresh_from_db()
    assert not silent.is_finished
    assert expired.reason_code == "lease_expired"
    lease = beat(silent, "running", 1)  # what the worker had buffered while nobody answered
    assert lease.heartbeat_due_at > lease.server_time
    publish(silent, completed_body(silent))
    assert [result.attempt_id for result in Result.objects.all()] == [silent.pk]


def test_heartbeats_walk_the_phases_and_renew_liveness_but_never_the_lease():
    run = enqueue()
    attempt = claim()
    first = beat(attempt, "leased", 1)
    running = beat(attempt, "running", 2)
    assert running.agent_deadline_at is not None
    assert running.agent_deadline_at < running.lease_expires_at
    later = beat(attempt, "running", 3)
    assert later.lease_expires_at == running.lease_expires_at
    assert later.heartbeat_due_at > first.heartbeat_due_at
    beat(attempt, "verifying", 4)
    run.refresh_from_db()
    assert (run.state, run.reason_code) == ("verifying", "agent_exited")
    assert code_of(beat, attempt, "running", 5) == "illegal_phase"
    assert code_of(beat, attempt, "stopped", 6) == "illegal_phase"


def test_a_repeated_heartbeat_has_no_effect_a_lower_one_is_ignored_a_changed_one_conflicts():
    """WP-H4"""
    enqueue()
    attempt = claim()
    beat(attempt, "running", 2)
    rows = JournalRow.objects.count()
    beat(attempt, "running", 2)
    beat(attempt, "leased", 1)
    assert JournalRow.objects.count() == rows
    assert code_of(beat, attempt, "verifying", 2) == "heartbeat_conflict"


def test_the_agents_deadline_is_recorded_once_and_a_later_result_is_a_late_completion():
    """RU-S8"""
    run = enqueue()
    attempt = claim()
    beat(attempt, "running", 1)
    assert not beat(attempt, "running", 2, at_deadline=True).deadline_recorded
    attempt.refresh_from_db()
    attempt.agent_deadline_at = attempt.started_at
    attempt.save()
    assert beat(attempt, "running", 3, at_deadline=True).deadline_recorded
    beat(attempt, "running", 4, at_deadline=True)
    assert JournalRow.objects.filter(run=run, kind="deadline").count() == 1
    publish(attempt, completed_body(attempt))
    assert JournalRow.objects.get(run=run, edge="verify").reason_code == "late_completion"
    run.refresh_from_db()
    assert run.state == "completed"


def test_verification_may_use_the_time_that_was_kept_for_it():
    """RU-S7"""
    run = enqueue(timeoutSeconds=100, verifySeconds=60)
    attempt = claim()
    lease = beat(attempt, "running", 1)
    attempt.refresh_from_db()
    assert attempt.started_at is not None
    assert lease.agent_deadline_at == attempt.started_at + timedelta(seconds=40)
    assert lease.lease_expires_at == attempt.started_at + timedelta(seconds=100 + 120)
    beat(attempt, "verifying", 2)
    Attempt.objects.filter(pk=attempt.pk).update(agent_deadline_at=now() - timedelta(seconds=1))
    assert reaper_pass(seasoned_reaper()) == 0
    publish(attempt, completed_body(attempt))
    run.refresh_from_db()
    assert run.state == "completed"


def test_a_worker_that_says_good_bye_loses_its_run_at_the_next_pass():
    run = enqueue(maxEnvironmentRetries=3)
    attempt = claim(worker(1))
    assert attempt_release_worker(worker(2)) == 0
    assert attempt_release_worker(worker(1)) == 1
    assert reaper_pass(seasoned_reaper()) == 1
    run.refresh_from_db()
    assert run.state == "queued"
    assert attempt_release_node(attempt.node) == 0

"""Failed runs that a person queues again."""

import pytest

from factory_site.doctor.report import findings
from runs.clock import now
from runs.contract.errors import Refused
from runs.models import JournalRow, Run
from runs.queue.attempts.reaper import reaper_pass
from runs.queue.cancel import run_cancel
from runs.queue.operating.retry import run_retry
from tests.queue_driver import claim, enqueue, failed_body, make_due, publish, release_backoff, seasoned_reaper
from tests.site_agents import load_reader, read_body, started

ANN = "operator:ann"


@pytest.fixture
def run(tmp_path):
    """A queued run of a reader: two tries of its agent, three retries for its surroundings."""
    load_reader(tmp_path)
    return started()


def fails(run, code, times=1):
    """Let its attempts end with this code, each as soon as it may be tried."""
    for _ in range(times):
        release_backoff(run)
        attempt = claim()
        if code == "worker_lost":
            make_due(attempt, silent=True)
            reaper_pass(seasoned_reaper())
        else:
            publish(attempt, failed_body(attempt, code))
    run.refresh_from_db()
    return run


def anomaly():
    """What the doctor says of runs that failed for good."""
    return next((each for each in findings() if each.code == "retry_exhausted"), None)


def refused(run, **fields):
    rows = JournalRow.objects.count()
    with pytest.raises(Refused) as told:
        run_retry(run=run, actor=ANN, **fields)
    assert JournalRow.objects.count() == rows
    return told.value


def test_four_lost_workers_end_it_and_a_person_begins_anew(run):
    """RU-S11: failed with cause environment after the fourth; a retry queues it and begins that budget anew."""
    fails(run, "worker_lost", 4)
    assert (run.state, run.cause, run.attempt_number) == ("failed", "environment", 4)
    rank = run.rank_at
    again = run_retry(run=run, actor=ANN, reason="the machine has its disk back")
    assert (again.state, again.hold, again.cause, again.environment_failures) == ("queued", "", "", 0)
    assert again.rank_at == rank
    row = JournalRow.objects.filter(run=run).latest("seq")
    assert (row.edge, row.actor, row.reason_code) == ("retry", ANN, "operator_retry")
    assert row.detail == {"reason": "the machine has its disk back"}
    attempt = claim()
    assert (attempt.run_id, attempt.number) == (run.pk, 5)
    publish(attempt, read_body(attempt))
    run.refresh_from_db()
    assert run.state == "completed"


def test_two_broken_contracts_end_it_and_one_more_try_has_to_be_forced(run):
    """RU-S12: 409 `attempts_exhausted` without force, queued with it."""
    fails(run, "contract_violation", 2)
    assert (run.state, run.agent_error_failures) == ("failed", 2)
    told = refused(run)
    assert (told.code, told.message) == (
        "attempts_exhausted",
        f"{run.run_id} is not tried again: its agent failed 2 of 2 times; force the retry to try it once more",
    )
    assert run_retry(run=run, actor=ANN, force=True).reason_code == "operator_retry_forced"
    fails(run, "agent_exit")
    assert (run.state, run.agent_error_failures) == ("failed", 3)
    assert refused(run).code == "attempts_exhausted"


@pytest.mark.parametrize("code", ["baseline_red", "policy_denied", "invented"])
def test_what_is_fatal_has_to_be_forced(run, code):
    fails(run, code)
    assert run.cause == "fatal"
    assert refused(run).code == "attempts_exhausted"
    assert run_retry(run=run, actor=ANN, force=True).state == "queued"


def test_force_where_none_was_needed_is_a_plain_retry(run):
    fails(run, "worker_lost", 4)
    assert run_retry(run=run, actor=ANN, force=True).reason_code == "operator_retry"


def test_the_doctor_names_the_retry_that_would_be_accepted_until_it_was_made(run):
    """PO-S20: retry_exhausted"""
    fails(run, "worker_lost", 4)
    row = anomaly()
    assert row is not None
    assert row.mend.endswith(f"queue it again: manage.py runs retry {run.run_id}")
    Run.objects.filter(pk=run.pk).update(agent_error_failures=2)
    run.refresh_from_db()
    assert refused(run).code == "attempts_exhausted"
    row = anomaly()
    assert row is not None
    assert row.mend.endswith(f"manage.py runs retry {run.run_id} --force")
    run_retry(run=run, actor=ANN, force=True)
    assert anomaly() is None


def test_the_doctor_is_silent_about_a_run_that_nobody_waits_for():
    """PO-S20: retry_exhausted, which a person could not mend there; the flow has told what it made of it."""
    run = enqueue()
    Run.objects.filter(pk=run.pk).update(state="failed", cause="environment", ended_at=now(), flow_type="convergence")
    run.refresh_from_db()
    assert refused(run).code == "subject_moved_on"
    assert anomaly() is None


def test_other_states_are_not_retried_and_the_answer_names_what_begins_new_work(run):
    assert refused(run).code == "run_not_retryable"
    run_cancel(run=run, code="operator_cancel", actor=ANN)
    told = refused(run, force=True)
    assert told.code == "run_not_retryable"
    assert told.message.endswith("new work starts with: runs start log-reader@1")


def test_a_run_whose_flow_has_gone_on_is_not_retried():
    """Nobody would read its result: no row of the flow waits for this entry of its step."""
    run = enqueue(maxAttempts=2)
    publish(attempt := claim(), failed_body(attempt, "baseline_red"))
    run.refresh_from_db()
    told = refused(run, force=True)
    assert (told.code, "convergence flow has gone on" in told.message) == ("subject_moved_on", True)


@pytest.mark.parametrize("key", ["family", "singleton_key"])
def test_a_newer_run_of_the_same_kind_keeps_the_older_at_rest(run, key):
    fails(run, "worker_lost", 4)
    newer = started()
    Run.objects.filter(pk__in=[run.pk, newer.pk]).update(**{key: "log-reader@1:acme/shop"})
    run.refresh_from_db()
    assert refused(run, force=True).code == "subject_moved_on"
    run_cancel(run=newer, code="operator_cancel", actor=ANN)
    assert run_retry(run=run, actor=ANN).state == "queued"


def test_a_newer_run_that_appears_at_the_same_instant_decides(run, monkeypatch):
    """The unique index over live runs has the last word; nothing of the retry stays."""
    fails(run, "worker_lost", 4)
    newer = started()
    Run.objects.filter(pk__in=[run.pk, newer.pk]).update(family="log-reader@1:acme/shop")
    monkeypatch.setattr("runs.queue.operating.retry._newer_is_live", lambda _: False)
    run.refresh_from_db()
    assert refused(run).code == "subject_moved_on"
    run.refresh_from_db()
    assert (run.state, run.ended_at is not None and run.ended_at <= now()) == ("failed", True)

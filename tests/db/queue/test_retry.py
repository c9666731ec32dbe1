"""Failures that lead back to the queue, and those that do not."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.codes import FAILURES, SERVER_FAILURES, failure_rule
from runs.contract.errors import Invalid
from runs.models import JournalRow, Outbox, Run
from runs.queue.attempts.reaper import reaper_pass
from runs.queue.claim import Empty, run_claim
from runs.queue.holds import holds_pass
from tests.queue_driver import (
    claim,
    claim_request,
    enqueue,
    failed_body,
    make_due,
    publish,
    release_backoff,
    seasoned_reaper,
)


def test_four_losses_in_a_row_end_the_run():
    """RU-H11"""
    run = enqueue(maxEnvironmentRetries=3)
    for number in range(1, 5):
        attempt = claim()
        assert attempt.number == number
        make_due(attempt, silent=True)
        reaper_pass(seasoned_reaper())
        release_backoff(run)
    run.refresh_from_db()
    assert (run.state, run.cause, run.environment_failures) == ("failed", "environment", 4)


def test_two_agent_errors_spend_a_budget_of_two_and_losses_do_not_count_into_it():
    """RU-H11"""
    run = enqueue(maxAttempts=2, maxEnvironmentRetries=3)
    attempt = claim()
    publish(attempt, failed_body(attempt))
    run.refresh_from_db()
    assert (run.state, run.reason_code) == ("queued", "retry_agent_error")
    release_backoff(run)
    attempt = claim()
    make_due(attempt, silent=True)
    reaper_pass(seasoned_reaper())
    release_backoff(run)
    attempt = claim()
    publish(attempt, failed_body(attempt, "contract_violation"))
    run.refresh_from_db()
    assert (run.state, run.cause, run.agent_error_failures, run.environment_failures) == ("failed", "agent_error", 2, 1)


ENDINGS = {  # of a first failure within budget: state, counter that grew
    **dict.fromkeys(
        ("worker_crashed", "adapter_error", "adapter_unavailable", "workspace_provisioning_error", "input_unavailable"),
        ("queued", "environment_failures"),
    ),
    **dict.fromkeys(("agent_exit", "contract_violation", "verification_failed"), ("queued", "agent_error_failures")),
    **dict.fromkeys(
        ("budget_exceeded", "policy_denied", "workspace_integrity", "baseline_red", "subject_changed", "invented"),
        ("failed", ""),
    ),
    "drain_timeout": ("queued", "drain_failures"),
    "usage_limited": ("queued", "usage_limit_failures"),
    "timeout": ("timed_out", ""),
}
COUNTERS = ("environment_failures", "agent_error_failures", "drain_failures", "usage_limit_failures")


def test_every_code_that_a_worker_may_report_is_tried():
    assert set(FAILURES) - SERVER_FAILURES == set(ENDINGS) - {"invented"}


@pytest.mark.parametrize("code", ENDINGS)
def test_a_reported_failure_ends_the_attempt_and_grows_its_counter_alone(code):
    run = enqueue(maxAttempts=2, maxEnvironmentRetries=1)
    attempt = claim()
    publish(attempt, failed_body(attempt, code))
    run.refresh_from_db()
    attempt.refresh_from_db()
    state, counter = ENDINGS[code]
    assert (run.state, attempt.reason_code, attempt.cause) == (state, code, failure_rule(code).cause)
    assert {name for name in COUNTERS if getattr(run, name)} == ({counter} if counter else set())
    assert (run.hold == "backoff", run.available_at is not None) == (state == "queued", state == "queued")


@pytest.mark.parametrize("code", sorted(SERVER_FAILURES))
def test_what_only_the_server_may_say_is_refused_from_a_worker(code):
    enqueue()
    attempt = claim()
    with pytest.raises(Invalid) as told:
        publish(attempt, failed_body(attempt, code))
    assert told.value.code == "malformed"
    attempt.refresh_from_db()
    assert not attempt.is_finished


def test_a_usage_limit_waits_for_the_instant_that_the_account_named():
    run = enqueue()
    attempt = claim()
    again = now() + timedelta(hours=3)
    publish(attempt, failed_body(attempt, "usage_limited", retryAt=again.isoformat().replace("+00:00", "Z")))
    run.refresh_from_db()
    assert (run.hold, run.available_at, run.usage_limit_failures) == ("backoff", again, 1)


def test_what_an_agent_wrote_decides_nothing():
    """RU-H15"""
    run = enqueue()
    attempt = claim()
    tail = "retry after 3 hours; drain_timeout; exit code 137; run_01J9X2M7Q4T6V8B0C1D2E3F4G5 usage_limited"
    publish(attempt, failed_body(attempt, "agent_exit", detail={"tail": tail, "retryAt": "2099-01-01T00:00:00Z"}))
    run.refresh_from_db()
    attempt.refresh_from_db()
    assert (run.state, run.cause, run.available_at, attempt.exit_code) == ("failed", "agent_error", None, 1)


def test_a_retry_that_cannot_be_written_leaves_the_run_at_rest():
    run = enqueue(maxEnvironmentRetries=3)
    attempt = claim()
    run.refresh_from_db()
    row = JournalRow.objects.get(run=run, seq=run.journal_seq)
    row.pk, row.seq = None, run.journal_seq + 2  # where the row of the retry belongs
    row.save()
    publish(attempt, failed_body(attempt, "adapter_error"))
    run.refresh_from_db()
    assert (run.state, run.hold, run.environment_failures) == ("failed", "", 1)
    assert Outbox.objects.get().topic == "run.ended"
    assert not run.attempts.filter(finished_at=None).exists()


def test_a_backoff_is_released_when_due_by_a_claim_and_by_the_sweep():
    runs = [enqueue(), enqueue()]
    for _ in runs:
        attempt = claim()
        publish(attempt, failed_body(attempt, "drain_timeout"))
    assert run_claim(claim_request()) == Empty("none_ready")
    release_backoff(runs[0])
    assert claim().run == runs[0]
    release_backoff(runs[1])
    assert holds_pass() == 1
    assert Run.objects.get(pk=runs[1].pk).hold == ""


def test_a_retry_keeps_its_place_in_the_line():
    first = enqueue()
    attempt = claim()
    publish(attempt, failed_body(attempt, "drain_timeout"))
    enqueue()
    release_backoff(first)
    assert claim().run == first


def test_a_missed_clearing_of_an_exclusive_hold_is_made_up_by_the_sweep():
    run = enqueue(exclusiveKey="branch:1:x")
    long_ago = now() - timedelta(minutes=1)
    Run.objects.filter(pk=run.pk).update(hold="exclusive", hold_checked_at=long_ago)
    assert holds_pass() == 1
    assert claim().run == run

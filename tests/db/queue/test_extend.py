"""More time for a running agent, in a race with its deadline."""

from datetime import timedelta

import pytest
from django.db.models import F

from runs.clock import now
from runs.contract.errors import Invalid, Refused
from runs.contract.instants import parse_instant
from runs.models import Attempt, JournalRow, Receipt, Run
from runs.policy import policy
from runs.queue.attempts.reaper import reaper_pass
from runs.queue.operating.extend import run_extend
from tests.queue_driver import beat, claim, completed_body, enqueue, publish, seasoned_reaper

ANN = "operator:ann"


@pytest.fixture
def attempt():
    """A running attempt whose agent has 40 s and its verification 60 s."""
    enqueue(timeoutSeconds=100, verifySeconds=60)
    held = claim()
    beat(held, "running", 1)
    held.refresh_from_db()
    return held


def agent_time_ends(attempt):
    """Let the agent's time be over by a second."""
    Attempt.objects.filter(pk=attempt.pk).update(agent_deadline_at=now() - timedelta(seconds=1))


def refused(run, seconds=60, **fields):
    rows = JournalRow.objects.count()
    with pytest.raises((Refused, Invalid)) as told:
        run_extend(run=run, seconds=seconds, actor=ANN, **fields)
    assert JournalRow.objects.count() == rows
    return told.value.code


def test_both_instants_move_by_what_was_granted_and_the_journal_says_who_and_why(attempt):
    """RU-H4, RU-H5: `deadline_at` moves by extension, with one journal row."""
    before = (attempt.agent_deadline_at, attempt.deadline_at, attempt.control_seq)
    moved = run_extend(run=attempt.run, seconds=900, actor=ANN, reason="nearly done")
    attempt.refresh_from_db()
    by = timedelta(seconds=900)
    assert (attempt.agent_deadline_at, attempt.deadline_at) == (before[0] + by, before[1] + by)
    assert (moved.deadline_at, attempt.control_seq) == (attempt.deadline_at, before[2] + 1)
    row = JournalRow.objects.get(kind="extension")
    assert (row.actor, row.attempt, row.to_state) == (ANN, 1, "")
    assert row.detail["seconds"] == 900
    assert parse_instant(row.detail["agentDeadlineAt"]) == attempt.agent_deadline_at
    assert parse_instant(row.detail["deadlineAt"]) == attempt.deadline_at
    assert (row.detail["override"], row.detail["reason"]) == (False, "nearly done")
    assert Run.objects.get().extended_seconds == 900
    publish(attempt, completed_body(attempt))
    assert Receipt.objects.get().document["deadlineExtensions"] == 1


def test_an_extension_before_the_question_lets_the_agent_go_on(attempt):
    """RU-S6: the worker asks at the old deadline and is told the later instant; no deadline is recorded."""
    agent_time_ends(attempt)
    run_extend(run=attempt.run, seconds=60, actor=ANN)
    lease = beat(attempt, "running", 2, at_deadline=True)
    assert not lease.deadline_recorded
    assert lease.agent_deadline_at is not None
    assert lease.agent_deadline_at > lease.server_time
    assert not JournalRow.objects.filter(kind="deadline").exists()


def test_an_extension_after_the_recorded_deadline_is_refused_for_good(attempt):
    """RU-S6: 409 once the `deadline` row exists, also while what the agent left is being verified."""
    agent_time_ends(attempt)
    assert beat(attempt, "running", 2, at_deadline=True).deadline_recorded
    assert refused(attempt.run) == "deadline_recorded"
    beat(attempt, "verifying", 3, verify_reason="late_completion")
    assert refused(attempt.run) == "deadline_recorded"
    publish(attempt, completed_body(attempt))
    assert Run.objects.get().state == "completed"


def test_a_run_that_is_being_verified_gets_more_time_for_it(attempt):
    beat(attempt, "verifying", 2)
    before = attempt.deadline_at
    assert run_extend(run=attempt.run, seconds=30, actor=ANN).deadline_at == before + timedelta(seconds=30)


def test_an_extended_attempt_is_not_taken_back_at_its_old_deadline(attempt):
    run_extend(run=attempt.run, seconds=600, actor=ANN)
    by = attempt.deadline_at - now() + timedelta(seconds=1)  # as if the old deadline had just passed
    Attempt.objects.filter(pk=attempt.pk).update(
        agent_deadline_at=F("agent_deadline_at") - by, deadline_at=F("deadline_at") - by
    )
    assert reaper_pass(seasoned_reaper()) == 0
    Attempt.objects.filter(pk=attempt.pk).update(agent_deadline_at=None, deadline_at=now() - timedelta(seconds=1))
    assert refused(attempt.run) == "deadline_recorded"


@pytest.mark.parametrize("seconds", [0, -1, 3601, 60.0, "60", None, True])
def test_seconds_are_a_whole_number_within_an_hour(attempt, seconds):
    assert refused(attempt.run, seconds) == "invalid_seconds"


def test_only_what_runs_or_is_verified_is_extended():
    waiting = enqueue()
    assert refused(waiting) == "run_not_extendable"
    held = claim()
    assert refused(held.run) == "run_not_extendable"
    beat(held, "running", 1)
    publish(held, completed_body(held))
    assert refused(held.run) == "run_not_extendable"


def test_beyond_the_limit_of_the_policy_it_takes_an_override(attempt):
    """A run of 100 s may be extended up to the limit to the second, and further only by an override."""
    room = policy().limits.max_run_minutes * 60 - 100
    while room > 3600:
        run_extend(run=attempt.run, seconds=3600, actor=ANN)
        room -= 3600
    run_extend(run=attempt.run, seconds=room, actor=ANN)
    assert refused(attempt.run, 1) == "run_limit_exceeded"
    run_extend(run=attempt.run, seconds=1, actor=ANN, override=True)
    assert JournalRow.objects.filter(kind="extension").latest("seq").detail["override"] is True

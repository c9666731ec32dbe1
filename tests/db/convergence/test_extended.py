"""More time for the agent of a turn, and for the flow that waits for it."""

from datetime import timedelta

import pytest

from convergence.looks.look import convergence_look
from convergence.models import ConvergenceFlow
from runs.clock import now
from runs.contract.errors import Refused
from runs.models import Run
from runs.queue.operating.extend import run_extend
from runs.queue.operating.retry import run_retry
from tests import queue_driver as queue


@pytest.fixture
def attempt(stage):
    """The running attempt of the first turn, whose time the flow has read."""
    stage.begun()
    held = stage.claim()
    queue.beat(held, "running", 1)
    stage.settle()
    return held


def test_an_extension_moves_the_time_of_the_flow_as_far_as_the_agents(stage, attempt):
    """CV-S42: after 2 h and the extension, not after 2 h, the run is cancelled and a person asked."""
    before = stage.flow.timer_at
    run_extend(run=attempt.run, seconds=900, actor="operator:ann")
    assert stage.flow.timer_at == before + timedelta(seconds=900)
    stage.settle()
    assert stage.flow.timer_at == before + timedelta(seconds=900)
    stage.passes(hours=2, minutes=14)
    stage.settle()
    assert stage.flow.state == "review_round"
    stage.passes(minutes=2)
    stage.settle()
    assert stage.edges[-1] == "agent_sla_passed"
    assert "2:15:00" in stage.task.context


def test_a_look_that_read_the_old_instant_cancels_nothing(stage, attempt, settings):
    """The extension was first: the look that is under way finds the row moved on."""
    settings.FACTORY = settings.FACTORY.model_copy(update={"agent_sla_timeout": timedelta(minutes=30)})
    stage.passes(minutes=31)
    seen = list(ConvergenceFlow.objects.all())
    run_extend(run=Run.objects.get(), seconds=900, actor="operator:ann")
    convergence_look(seen)
    assert stage.flow.state == "review_round"
    assert stage.flow.due_at <= now()
    stage.settle()
    attempt.run.refresh_from_db()
    assert (stage.flow.state, attempt.run.state) == ("review_round", "running")


def test_a_failed_run_is_retried_as_long_as_its_flow_waits_for_it(stage, attempt):
    queue.publish(attempt, queue.failed_body(attempt, "policy_denied"))
    assert run_retry(run=attempt.run, actor="operator:ann", force=True).state == "queued"
    again = stage.claim()
    queue.publish(again, queue.failed_body(again, "policy_denied"))
    stage.settle()
    assert stage.flow.state == "await_answer"
    with pytest.raises(Refused) as told:
        run_retry(run=again.run, actor="operator:ann", force=True)
    assert told.value.code == "subject_moved_on"

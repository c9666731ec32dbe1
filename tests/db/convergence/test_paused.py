"""A pull request under a pause: its agent is not asked, its time does not run out, and it says so."""

import pytest

from convergence.selectors.waiting import waiting_for
from runs.queue.claim import Empty, run_claim
from runs.queue.limits.pauses import pause_lift, pause_set
from tests import queue_driver as queue
from tests.site_policy import edited_policy

BY = "operator:maria"


def test_an_agent_that_is_not_asked_yet_waits_for_the_end_of_the_pause(stage):
    """RU-S17"""
    stage.begun()
    pause = pause_set(scope="repository", key="acme/shop", reason="release freeze", actor=BY)
    waiting = waiting_for(stage.flow)
    assert (waiting.reason, waiting.paused_by) == ("agent_queued", "pause_switch")
    assert "acme/shop is paused since" in waiting.sentence
    assert run_claim(queue.claim_request()) == Empty("paused")
    pause_lift(pause_id=pause.pk, actor=BY)
    assert waiting_for(stage.flow).paused_by is None
    assert stage.claim().run.run_id == stage.flow.run_id


def test_a_budget_that_is_used_up_is_named(stage):
    with edited_policy("budgets: {perDay: {usd: 0}}"):
        stage.begun()
        assert waiting_for(stage.flow).paused_by == "budget"


@pytest.mark.parametrize("scope", ["global", "repository", "agent"])
def test_the_time_of_an_agent_does_not_run_out_under_a_pause(stage, scope):
    stage.begun()
    attempt = stage.claim()
    queue.beat(attempt, "running", 1)
    stage.settle()
    key = {"repository": "ACME/shop", "agent": "pr-review"}.get(scope, "")
    pause = pause_set(scope=scope, key=key, reason="model outage", actor=BY)
    stage.passes(hours=3)
    stage.settle()
    assert stage.flow.state == "review_round"
    pause_lift(pause_id=pause.pk, actor=BY)
    stage.settle()
    assert stage.flow.state == "review_round", "a whole limit is left from the end of the pause"
    stage.passes(hours=2, minutes=1)
    stage.settle()
    assert stage.edges[-1] == "agent_sla_passed"


def test_a_pause_of_something_else_leaves_the_time_as_it_is(stage):
    stage.begun()
    attempt = stage.claim()
    queue.beat(attempt, "running", 1)
    stage.settle()
    pause_set(scope="repository", key="acme/web", reason="release freeze", actor=BY)
    stage.passes(hours=3)
    stage.settle()
    assert stage.edges[-1] == "agent_sla_passed"

import pytest

from convergence.models import Escalation, PullRequest
from merging.models import MergeFlow
from merging.services.start import merges_missing_start
from runs.models import HumanTask


def in_state(stage, state):
    """A pull request whose merge flow rests in this state before its merge."""
    if state == "escalated":
        pull = stage.pull_on_forge(draft=True)
    else:
        stage.repository()
        stage.sim.verbs.protect("acme/shop", approvals=1)
        pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    if state == "waiting_deps":  # begun anew by the sweep, and not looked at yet
        MergeFlow.rows().delete()
        PullRequest.objects.update(state="converged")
        merges_missing_start()
    if state == "repolling":
        stage.passes(minutes=31)
        stage.look()
    assert stage.flow.state == state, stage.edges
    return pull


STATES = ["waiting_deps", "waiting_merge", "repolling", "escalated"]


@pytest.mark.parametrize("state", STATES)
def test_a_merge_by_a_person_is_proven_and_reported(stage, state):
    """MG-S16: merged by hand in any wait ends as merged, with one attempt row that says who; MG-H5: two looks."""
    pull = in_state(stage, state)
    stage.sim.verbs.edit(pull, draft=False)
    stage.sim.verbs.protect("acme/shop")
    stage.sim.verbs.merge_by_hand(pull, by="dev")
    stage.look()
    stage.look()

    assert stage.flow.state == "merged"
    assert stage.pull.state == "merged"
    assert stage.outcomes == [("merged", "merged_elsewhere")]
    assert stage.attempts[0].actor == "dev"
    assert stage.flow.landed_sha == pull.merge_commit_sha
    assert stage.calls() == 0
    assert len(stage.events) == 1
    assert stage.task is None


@pytest.mark.parametrize("state", STATES)
def test_a_closed_pull_request_is_abandoned_and_never_a_question(stage, state):
    """MG-S16: closing is an answer: one attempt row, the question withdrawn, no call."""
    pull = in_state(stage, state)
    stage.sim.verbs.close(pull)
    stage.look()

    assert (stage.flow.state, stage.pull.state) == ("abandoned", "abandoned")
    assert stage.outcomes == [("abandoned", "closed")]
    assert stage.task is None
    assert stage.calls() == 0
    if state == "escalated":
        assert HumanTask.objects.get().state == "closed"
        assert Escalation.objects.get().state == "stale"


def test_a_pull_request_that_cannot_be_found_is_asked_about_after_ten_minutes(stage):
    in_state(stage, "waiting_merge")
    forbidden = stage.sim.faults.forbid("acme/shop")
    for _ in range(3):
        stage.look()
        assert stage.flow.state == "waiting_merge"
        stage.passes(minutes=4)
    stage.look()
    assert stage.edges[-1] == "unreachable"
    assert stage.pull.state == "escalated"

    forbidden.left = 0
    stage.sim.verbs.protect("acme/shop")
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.task is None


def test_nothing_happens_while_the_forge_cannot_be_read(stage):
    in_state(stage, "waiting_merge")
    edges = stage.edges
    fault = stage.sim.faults.fail_next(None, 500, times=-1)
    stage.passes(hours=3)
    stage.look()
    assert stage.edges == edges
    assert stage.flow.last_look_error
    assert stage.flow.look_failures == 1
    fault.left = 0

"""What holds a ready pull request: pauses, plans, a base that wants people, a branch that must hold its base."""

import pytest

from merging.models import HoldKind, MergeFlow
from merging.selectors import merge_detail
from merging.services.holds import hold_release, hold_set
from merging.waiting import merge_waiting_for
from runs.models import HumanTask
from runs.queue.limits.pauses import pause_lift, pause_set
from tests.db.merging.stage import PERSON, REPO


@pytest.mark.parametrize("scope", [{"scope": "repository", "key": REPO}, {"scope": "global"}])
def test_a_paused_repository_merges_nothing_and_goes_on_when_the_pause_is_lifted(stage, scope):
    """MG-S24: held as paused, merged within one poll."""
    stage.converged(stage.pull_on_forge())
    pause = pause_set(**scope, reason="Freeze.", actor=PERSON)
    stage.settle()
    assert (stage.flow.state, stage.flow.held_reason) == ("waiting_merge", "paused")
    waiting = merge_waiting_for(stage.flow)
    assert (waiting.reason, waiting.sentence) == ("paused", "merges are paused by ann: Freeze.")
    stage.passes(hours=3)
    stage.look()
    assert stage.flow.state == "waiting_merge"  # a pause is no stall
    assert stage.calls() == 0

    pause_lift(pause_id=pause.pk, actor=PERSON)
    stage.settle()
    assert stage.flow.state == "merged"


def test_a_lifted_pause_makes_the_held_merge_look_at_once(stage):
    stage.converged(stage.pull_on_forge())
    pause = pause_set(scope="global", reason="Freeze.", actor=PERSON)
    stage.settle()
    before = stage.flow.due_at
    pause_lift(pause_id=pause.pk, actor=PERSON)
    assert stage.flow.due_at < before


def test_a_trial_merge_holds_until_its_plan_releases_it(stage):
    stage.converged(stage.pull_on_forge())
    hold_set(stage.pull, HoldKind.TRIAL_MERGE, group="plan:1", actor="flow:plan:x")
    hold_set(stage.pull, HoldKind.TRIAL_MERGE, group="plan:1", actor="flow:plan:x")
    stage.settle()
    assert stage.flow.held_reason == "held_trial_merge"
    assert merge_detail(stage.pull)["holds"][0]["kind"] == "trial_merge"
    assert hold_release(stage.pull, HoldKind.TRIAL_MERGE, group="plan:1", actor="flow:plan:x")
    assert not hold_release(stage.pull, HoldKind.TRIAL_MERGE, group="plan:1", actor="flow:plan:x")
    stage.settle()
    assert stage.flow.state == "merged"


def behind(stage, **base):
    """A converged pull request whose plan wants the tip of the base in its branch, and which lacks it."""
    pull = stage.pull_on_forge()
    stage.sim.verbs.push(REPO, "main", base or {"other.py": "y = 1\n"}, "Base")
    stage.converged(pull)
    hold_set(stage.pull, HoldKind.FRESH_BASE, group="plan:1", actor="flow:plan:x")
    return pull


def test_a_fresh_base_is_brought_into_the_branch_and_the_new_head_is_own(stage):
    pull = behind(stage)
    stage.settle(passes=20)
    assert stage.edges.count("branch_updated") == 1
    assert (stage.flow.state, stage.flow.merge_retries) == ("merged", 1)
    assert stage.flow.own_heads.filter(source="update_branch").get().sha == stage.attempts[0].expected_head
    assert stage.on_base("other.py") == "y = 1\n"
    assert pull.state == "MERGED"


def test_an_update_that_is_not_permitted_is_left_to_a_rebase(stage):
    behind(stage)
    stage.sim.faults.fail_next("update_branch", 403)
    stage.settle()
    assert (stage.flow.state, stage.flow.rebases) == ("rebasing", 1)
    assert stage.variables(stage.claimed("rebase"))["rebaseRound"] == 0


def test_an_update_without_a_rebase_budget_asks(stage):
    stage.config(max_rebase_rounds=0)
    behind(stage)
    stage.sim.faults.fail_next("update_branch", 403)
    stage.settle()
    assert stage.task.refs["reason"] == "conflict"


def test_an_update_that_meets_another_head_looks_again(stage):
    stage.policy("reviewers: []\nmerging: {reviewAfter: never}\n")
    behind(stage)
    stage.sim.faults.race("update_branch", then=stage.push)
    stage.settle(passes=20)
    assert "branch_not_updated" in stage.edges
    assert stage.flow.state == "merged"


def test_updates_are_counted_and_at_last_asked_about(stage):
    behind(stage)
    MergeFlow.rows().update(merge_retries=5)
    stage.settle()
    assert (stage.task.refs["reason"], stage.flow.merge_retries) == ("merge_retries_spent", 6)
    assert stage.sim.log.count("update_branch") == 0


def test_a_base_that_only_people_merge_into_is_a_question_until_somebody_merges(stage):
    stage.repository()
    stage.sim.verbs.push(REPO, "main", {".github/merge-protocol.json": '{"land": {"method": "ui"}}'}, "Declare")
    pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    assert stage.task.refs["reason"] == "manual_landing"
    assert stage.calls() == 0
    stage.sim.verbs.merge_by_hand(pull, method="merge")
    stage.settle()
    assert stage.flow.state == "merged"
    assert HumanTask.objects.get().state == "closed"


@pytest.fixture(name="guarded")
def guarded_pull(stage):
    """A ready pull request whose base needs a person's approval of each head."""
    stage.policy("reviewers: []\nmerging: {reviewAfter: never, approvalBases: [ma*]}\n")
    pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    assert stage.task.refs["reason"] == "approval_required"
    return pull


def test_an_approved_head_is_merged(stage, guarded):
    stage.answer(resolution="approve")
    stage.settle()
    assert stage.flow.state == "merged"
    assert stage.attempts[0].expected_head == guarded.head_sha


def test_a_rejected_head_is_let_go(stage, guarded):
    stage.answer(resolution="reject")
    stage.settle()
    assert stage.flow.state == "abandoned"
    assert stage.pull.generations.get().outcome == "rejected by ann"
    assert guarded.state == "OPEN"


@pytest.mark.usefixtures("guarded")
def test_an_approval_holds_for_its_head_alone(stage):
    stage.push("total = 9\n")
    stage.settle()
    assert [task.state for task in HumanTask.objects.order_by("id")] == ["closed", "open"]
    stage.answer(resolution="approve")
    stage.sim.verbs.protect(REPO, required_checks=["late"])
    stage.look()
    stage.push("total = 10\n")
    stage.sim.verbs.protect(REPO)
    stage.settle()
    assert stage.task.refs["reason"] == "approval_required"

import pytest

from convergence.models import Escalation
from merging.selectors import merge_detail
from runs.contract.errors import Invalid
from runs.models import HumanTask


def failing(stage):
    """A pull request whose required check failed on its head, with no repair to try first."""
    stage.config(max_ci_fix_rounds=0)
    stage.repository()
    stage.sim.verbs.protect("acme/shop", required_checks=["test"])
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_check(pull, "test", "FAILURE")
    stage.converged(pull)
    stage.settle()
    return pull


def test_a_draft_is_asked_about_once_and_merged_when_it_is_marked_ready(stage):
    """MG-S10: nobody answers; the task is withdrawn by the fact itself."""
    pull = stage.pull_on_forge(draft=True)
    stage.converged(pull)
    stage.settle()
    assert stage.edges[-1] == "draft"
    assert stage.pull.state == "escalated"
    assert "draft" in stage.task.question

    stage.sim.verbs.edit(pull, draft=False)
    stage.settle()
    assert stage.pull.state == "merged"
    task = HumanTask.objects.get()
    assert (task.state, task.closed_reason) == ("closed", "reason gone")
    assert Escalation.objects.get().state == "stale"


def test_a_failing_required_check_is_one_question_that_names_it(stage):
    """MG-H9: one question with its facts, however often it is looked at."""
    pull = failing(stage)
    stage.look()

    task = HumanTask.objects.get()
    assert stage.edges[-1] == "checks_failing"
    assert "test failed" in task.question
    assert len(task.question) <= 280
    assert "Retry:" in task.context
    assert task.refs["reason"] == "checks_failing"
    assert stage.calls() == 0
    shown = merge_detail(stage.pull)["mergeability"]["failingChecks"]
    assert [check["name"] for check in shown] == ["test"]
    assert pull.state == "OPEN"


def test_a_check_that_turns_green_withdraws_the_question_and_merges(stage):
    pull = failing(stage)
    stage.sim.verbs.add_check(pull, "test", "SUCCESS")
    stage.sim.verbs.protect("acme/shop", required_checks=["test"])
    stage.settle()

    assert stage.pull.state == "merged"
    assert HumanTask.objects.get().state == "closed"


def test_an_answer_without_a_resolution_is_a_retry(stage):
    failing(stage)
    stage.answer(answer="I re-ran it.")
    stage.settle()

    assert stage.edges[-3:] == ["answered", "dependencies_clear", "checks_failing"]  # still red: asked anew
    assert list(Escalation.objects.order_by("id").values_list("state", flat=True)) == ["answered", "open"]
    assert list(HumanTask.objects.order_by("id").values_list("state", flat=True)) == ["answered", "open"]


def test_an_answer_needs_words_for_a_retry_and_none_to_abandon(stage):
    failing(stage)
    with pytest.raises(Invalid) as error:
        stage.answer(resolution="retry", answer="  ")
    assert error.value.details["fields"] == {"answer": "required"}

    stage.answer(resolution="abandon")
    stage.look()
    assert stage.pull.state == "abandoned"
    assert stage.pull.generations.get().outcome == "abandoned by ann"


def test_a_push_to_a_pull_request_that_is_asked_about_goes_back_to_review(stage):
    """MG-H2: the head of the answer is not the head that was reviewed."""
    failing(stage)
    stage.push()
    stage.look()

    assert stage.edges[-1] == "returned"
    assert stage.pull.state == "converging"
    assert HumanTask.objects.get().state == "closed"


def test_a_fourth_return_in_a_row_asks_and_an_answer_allows_it(stage):
    failing(stage)
    generation = stage.pull.generations.get()
    generation.returns = 3
    generation.save()
    type(stage.flow).rows().update(returns=3)
    stage.push()
    stage.look()
    assert stage.flow.state == "escalated"
    assert stage.task.refs["reason"] == "returned_too_often"

    stage.look()
    assert stage.task.refs["reason"] == "returned_too_often"
    stage.answer(answer="Yes.")
    stage.look()
    stage.look()
    assert stage.edges[-1] == "returned"
    assert stage.pull.generation == 2


def test_an_answer_allows_a_return_where_none_is_automatic(stage):
    stage.policy("reviewers: []\nmerging: {maxReturns: 0}\n")
    failing(stage)
    stage.push()
    stage.look()
    assert stage.task.refs["reason"] == "returned_too_often"
    stage.answer(answer="Yes.")
    stage.look()
    stage.look()
    assert stage.edges[-1] == "returned"


def test_a_request_for_changes_after_convergence_goes_back_to_review(stage):
    stage.repository()
    stage.sim.verbs.protect("acme/shop", approvals=1)
    pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    stage.sim.clock.advance(120)
    stage.sim.verbs.review(pull, "dev", "CHANGES_REQUESTED", "Not like this.")
    stage.look()

    assert stage.edges[-1] == "returned"
    assert stage.pull.generation == 2


def test_a_conflict_is_asked_about_and_merges_when_it_is_resolved(stage):
    stage.policy("reviewers: []\nmerging: {reviewAfter: never}\n")
    stage.config(max_rebase_rounds=0)
    pull = stage.pull_on_forge(files={"README.md": "theirs\n"})
    stage.sim.verbs.push("acme/shop", "main", {"README.md": "ours\n"}, "Ours")
    stage.converged(pull)
    stage.settle()
    assert stage.edges[-1] == "conflict"

    repo = stage.repository()
    stage.sim.verbs.push("acme/shop", "feat/total", {"README.md": "both\n"}, "Both", onto=repo.branches["main"])
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.on_base("README.md") == "both\n"


def test_a_stack_whose_base_landed_is_not_merged_into_it(stage):
    """MG-S22: the base is a dead end; retargeted, it is merged."""
    lower = stage.pull_on_forge("feat/lower")
    upper = stage.pull_on_forge("feat/upper", base="feat/lower")
    stage.sim.verbs.merge_by_hand(lower, method="merge")
    stage.converged(upper)
    stage.settle()
    assert stage.edges[-1] == "base_is_dead_end"
    assert stage.calls() == 0
    assert "feat/lower" in stage.task.question

    stage.sim.verbs.edit(upper, base="main")
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.on_base("feat-upper.py") == "total = 1\n"
    assert HumanTask.objects.get().state == "closed"


def test_a_stack_on_an_open_base_merges_into_it(stage):
    stage.pull_on_forge("feat/lower")
    upper = stage.pull_on_forge("feat/upper", base="feat/lower")
    stage.converged(upper)
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.on_base("feat-upper.py", "feat/lower") == "total = 1\n"


def test_a_wait_without_an_end_is_probed_five_times_and_then_asked_about(stage):
    """MG-S8: after 30 minutes a probe, five of them 2 minutes apart, then a person."""
    stage.repository()
    stage.sim.verbs.protect("acme/shop", approvals=1)
    stage.converged(stage.pull_on_forge())
    stage.settle()
    stage.passes(minutes=29)
    stage.look()
    assert stage.flow.state == "waiting_merge"
    stage.passes(minutes=2)
    stage.look()
    for number in range(1, 6):
        assert (stage.flow.state, stage.flow.stalls) == ("repolling", number)
        stage.look()
        assert stage.flow.stalls == number  # not before its time
        stage.passes(minutes=2, seconds=1)
        stage.look()

    assert stage.edges.count("stall_probed_again") == 4
    assert stage.edges[-1] == "stalled"
    assert "review required" in stage.task.question


def test_a_running_check_holds_the_stall_clock(stage):
    stage.repository()
    stage.sim.verbs.protect("acme/shop", required_checks=["test"])
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_check(pull, "test", None)
    stage.converged(pull)
    stage.settle()
    for _ in range(4):
        stage.passes(minutes=30)
        stage.look()
    assert stage.flow.state == "waiting_merge"
    assert stage.flow.verdict_reason == "checks_pending"

    stage.sim.verbs.complete_checks(pull)
    stage.sim.verbs.protect("acme/shop", required_checks=["test"])
    stage.settle()
    assert stage.pull.state == "merged"

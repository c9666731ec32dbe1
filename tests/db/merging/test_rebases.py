"""Conflicts: repaired by an agent within its budget, a contradiction asked about."""

import pytest

from runs.models import HumanTask
from tests.db.merging.stage import REPO


def conflicting(stage):
    """A converged pull request that conflicts with its base."""
    pull = stage.pull_on_forge(files={"README.md": "theirs\n"})
    stage.sim.verbs.push(REPO, "main", {"README.md": "ours\n"}, "Ours")
    stage.converged(pull)
    stage.settle()
    return pull


def test_a_conflict_is_rebased_and_merged(stage):
    """MG-S7: the rebased head is own, and lands."""
    conflicting(stage)
    assert stage.flow.state == "rebasing"
    given_input = stage.variables(stage.claimed("rebase"))
    assert (given_input["mergeState"], given_input["rebaseRound"]) == ("DIRTY", 0)


def test_the_push_of_a_rebase_lands(stage):
    """MG-S7: mechanical conflicts need nobody."""
    conflicting(stage)
    base = stage.repository().branches["main"]
    stage.repaired("rebased", files={"README.md": "ours\ntheirs\n"}, onto=base, agent="rebase")
    assert (stage.flow.state, stage.flow.rebases) == ("merged", 1)
    assert stage.on_base("README.md") == "ours\ntheirs\n"
    assert not HumanTask.objects.exists()


def test_contradicting_changes_ask_and_the_answer_reaches_the_agent(stage):
    """MG-S7: the question is the agent's, and so is the answer."""
    conflicting(stage)
    stage.repaired("blocked", agent="rebase", question="Which greeting wins?")
    assert "Which greeting wins?" in stage.task.question
    stage.answer(answer="Ours.")
    stage.settle()
    assert stage.variables(stage.claimed("rebase"))["answer"] == "Ours."


def test_three_rebases_that_do_not_help_ask(stage):
    conflicting(stage)
    for _ in range(3):
        stage.repaired("rebased", agent="rebase")
    assert (stage.task.refs["reason"], stage.flow.rebases) == ("conflict", 3)
    stage.answer(answer="Again.")
    stage.settle()
    assert (stage.flow.state, stage.flow.rebases) == ("rebasing", 1)


@pytest.mark.parametrize("budget", [3, 1])
def test_a_merge_state_that_is_not_known_polls_and_rebases_by_the_stall_edge(stage, budget):
    """MG-S9: within the rebase budget, and then a person."""
    stage.config(max_rebase_rounds=budget)
    stage.repository()
    pull = stage.pull_on_forge()
    stage.sim.verbs.say_merge_state(pull, "SOMETHING_NEW")
    stage.converged(pull)
    stage.settle()
    assert (stage.flow.state, stage.flow.verdict_reason) == ("waiting_merge", "unclassified")
    for number in range(budget):
        stage.passes(minutes=31)
        stage.look()
        assert stage.flow.state == "repolling"
        stage.passes(minutes=3)
        stage.look()
        assert (stage.flow.state, stage.flow.rebases) == ("rebasing", number + 1)
        stage.repaired("rebased", agent="rebase")
    stage.passes(minutes=31)
    stage.look()
    for _ in range(6):
        stage.passes(minutes=3)
        stage.look()
    assert stage.task.refs["reason"] == "stalled"

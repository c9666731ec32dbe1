"""What a pull request waits for: bodies, submits, and what became of those that it names."""

from datetime import timedelta

import pytest

from convergence.models import PullRequest
from convergence.services.submit import pull_submit
from merging.decisions.dependencies import Reference
from merging.models import Dependency, MergeFlow
from merging.selectors import merge_detail
from merging.services.dependencies import dependencies_discovered, dependencies_submitted, dependency_drop
from runs.clock import now
from runs.contract.errors import Invalid, NotFound
from runs.models import HumanTask
from tests.db.merging.stage import PERSON, REPO


def flow_of(pull):
    return MergeFlow.rows().get(pull__number=pull.number)


def row():
    return Dependency.objects.get()


def test_a_declared_dependency_is_waited_for_and_its_merge_lets_go(stage):
    first = stage.pull_on_forge("feat/first")
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}")
    stage.converged(second)
    stage.settle()
    assert flow_of(second).state == "waiting_deps"
    assert (row().source, row().standing, row().reference) == ("declared", "waiting", first.key)
    assert row().key == f"{stage.repository().id}#{first.number}"

    stage.sim.verbs.merge_by_hand(first, method="merge")
    stage.settle()
    assert flow_of(second).state == "merged"
    assert row().standing == "clear"


def test_a_merge_wakes_what_waits_for_it(stage):
    first = stage.pull_on_forge("feat/first")
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}")
    stage.converged(second)
    stage.settle()
    stage.converged(first)
    flow = flow_of(first)
    for _ in range(6):  # only the first one's own looks
        MergeFlow.rows().filter(pk=flow.pk, due_at__isnull=False).update(due_at=flow.created_at)
        MergeFlow.rows().exclude(pk=flow.pk).update(due_at=flow.created_at + timedelta(days=1))
        stage.deliver()
        from runs.flows.looks import flows_pass

        flows_pass()
        if flow_of(first).state == "merged":
            break
    assert flow_of(first).state == "merged"
    assert flow_of(second).due_at < flow.created_at + timedelta(days=1)


def test_a_body_that_no_longer_names_it_lets_go_and_one_that_begins_to_holds_again(stage):
    first = stage.pull_on_forge("feat/first")
    stage.sim.verbs.protect(REPO, approvals=1)
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}, the weather")
    stage.converged(second)
    stage.settle()
    assert flow_of(second).dependency_warnings == ["the names no pull request", "weather names no pull request"]

    stage.sim.verbs.edit(second, body="Nothing.")
    stage.settle()
    assert flow_of(second).state == "waiting_merge"
    assert not Dependency.objects.exists()

    stage.sim.verbs.edit(second, body=f"Depends on #{first.number}")
    stage.look()
    assert stage.edges[-1] == "dependency_appeared"
    assert flow_of(second).state == "waiting_deps"


@pytest.mark.parametrize("source", ["submitted", "discovered"])
def test_one_that_was_named_otherwise_too_stays_when_the_body_lets_go(stage, source):
    """MG-S14."""
    first = stage.pull_on_forge("feat/first")
    second = stage.converged(stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}"))
    stage.settle()
    pull, named = flow_of(second).pull, [Reference("acme", "shop", first.number)]
    if source == "submitted":
        dependencies_submitted(pull, named, actor=PERSON, now=now())
    else:
        dependencies_discovered(pull, named, run_id="run_1", now=now())
    stage.sim.verbs.edit(second, body="Sums up.")
    stage.settle()
    assert (flow_of(second).state, row().source) == ("waiting_deps", source)


def test_an_issue_is_no_dependency_and_a_missing_number_none_after_a_second_reading(stage):
    """MG-S13, MG-H14: what can never merge does not block; a closed pull request is a question."""
    stage.repository()
    issue = stage.sim.verbs.add_issue(REPO, "Report")
    pull = stage.pull_on_forge(body=f"Depends-on: #{issue.number} #99")
    stage.converged(pull)
    stage.settle()
    assert stage.flow.state == "waiting_deps"
    assert {(each.number, each.standing, each.note) for each in Dependency.objects.all()} == {
        (issue.number, "clear", "not_a_pull_request"),
        (99, "waiting", "not_a_pull_request"),
    }
    Dependency.objects.filter(number=99).update(missing_since=stage.flow.created_at - timedelta(seconds=61))
    stage.settle()
    assert stage.flow.state == "merged"


def test_what_cannot_be_read_blocks_and_is_noted(stage):
    """MG-S13, MG-H14: an unreadable repository is never treated as absent."""
    stage.repository()
    pull = stage.pull_on_forge(body="Depends-on: hidden/secret#3")
    stage.converged(pull)
    stage.settle()
    assert stage.flow.state == "waiting_deps"
    assert (row().standing, row().note, row().repository_id) == ("waiting", "unreadable", None)
    assert row().unreadable_since is not None
    assert stage.calls() == 0


def test_a_dependency_that_was_closed_asks_and_dropping_it_merges(stage):
    """MG-S13: the closed pull request is named in the question, and one answer drops it."""
    first = stage.pull_on_forge("feat/first")
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}")
    stage.sim.verbs.close(first)
    stage.converged(second)
    stage.settle()
    assert stage.task.refs["reason"] == "dependency_closed"
    assert first.key in stage.task.question

    stage.answer(resolution="drop_dependency", dependency=first.key, answer="Not needed.")
    stage.settle()
    assert flow_of(second).state == "merged"
    assert (row().dropped_by, row().drop_reason) == (PERSON, "Not needed.")


def test_a_dependency_that_is_opened_again_withdraws_its_question(stage):
    first = stage.pull_on_forge("feat/first")
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}")
    stage.sim.verbs.close(first)
    stage.converged(second)
    stage.settle()
    stage.sim.verbs.reopen(first)
    stage.settle()
    assert flow_of(second).state == "waiting_deps"
    assert HumanTask.objects.get().state == "closed"


def test_two_that_wait_for_each_other_are_one_question_and_dropping_lands_both(stage):
    """MG-S15: the one whose edge closed the cycle is asked about."""
    first = stage.pull_on_forge("feat/first")
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}")
    stage.sim.verbs.edit(first, body=f"Depends-on: #{second.number}")
    stage.converged(first)
    stage.settle()
    stage.converged(second)
    stage.settle()
    assert (flow_of(first).state, flow_of(second).state) == ("waiting_deps", "escalated")
    asked = HumanTask.objects.get()
    assert (asked.subject_label, asked.refs["reason"]) == (second.key, "dependency_cycle")

    stage.answer(resolution="drop_dependency", dependency=first.key)
    stage.settle(passes=30)
    assert {flow.state for flow in MergeFlow.rows()} == {"merged"}


def test_a_dropped_declaration_comes_back_only_with_another_body(stage):
    first = stage.pull_on_forge("feat/first")
    stage.sim.verbs.protect(REPO, approvals=1)
    second = stage.pull_on_forge("feat/second", body=f"Depends-on: #{first.number}")
    stage.converged(second)
    stage.settle()
    pull = PullRequest.objects.select_related("repository").get(number=second.number)
    dependency_drop(pull, f"#{first.number}", actor=PERSON, reason="Later.")
    stage.settle()
    assert flow_of(second).state == "waiting_merge"

    stage.sim.verbs.edit(second, body=f"Really depends. \nDepends-on: #{first.number}")
    stage.look()
    stage.look()
    assert flow_of(second).state == "waiting_deps"
    assert row().dropped_at is None


def test_dropping_needs_a_reason_and_something_to_drop(stage):
    pull = stage.pull_on_forge()
    stage.converged(pull)
    with pytest.raises(Invalid) as refused:
        dependency_drop(stage.pull, "#1", actor=PERSON, reason=" ")
    assert refused.value.code == "reason_required"
    with pytest.raises(NotFound) as missing:
        dependency_drop(stage.pull, "#77", actor=PERSON, reason="Why not.")
    assert missing.value.code == "unknown_dependency"


def test_a_submit_names_dependencies_and_the_next_one_replaces_them(stage):
    first = stage.pull_on_forge("feat/first")
    second = stage.pull_on_forge("feat/second")
    stage.sim.verbs.protect(REPO, approvals=1)
    stage.converged(second, depends_on=[f"#{first.number}"])
    stage.settle()
    assert flow_of(second).state == "waiting_deps"
    assert (row().source, row().added_by) == ("submitted", PERSON)
    shown = merge_detail(stage.pull)["dependencies"]
    assert [(each["key"], each["state"]) for each in shown] == [(first.key, "waiting")]

    ignored = pull_submit(reference=second.key, actor=PERSON, depends_on=["#99"]).ignored
    assert ignored == ["dependsOn"]
    stage.cancel()
    pull_submit(reference=second.key, actor=PERSON)
    assert not Dependency.objects.exists()


@pytest.mark.parametrize(
    ("references", "code"),
    [
        (["nonsense"], "dependency_invalid"),
        (["#1"] * 51, "dependency_invalid"),
        (["acme/shop#1"], "dependency_self"),
        (["ACME/shop#1"], "dependency_self"),
    ],
)
def test_a_submit_with_a_wrong_dependency_is_refused_and_stores_nothing(stage, references, code):
    pull = stage.pull_on_forge()
    with pytest.raises(Invalid) as refused:
        pull_submit(reference=pull.key, actor=PERSON, depends_on=references)
    assert refused.value.code == code
    assert refused.value.message.startswith("dependsOn:")
    assert not PullRequest.objects.exists()


def test_a_submit_that_closes_a_cycle_is_refused(stage):
    first, second = stage.pull_on_forge("feat/first"), stage.pull_on_forge("feat/second")
    pull_submit(reference=first.key, actor=PERSON, depends_on=[second.key])
    with pytest.raises(Invalid) as refused:
        pull_submit(reference=second.key, actor=PERSON, depends_on=[first.key])
    assert refused.value.code == "dependency_cycle"

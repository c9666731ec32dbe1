"""Agents that make checks pass: budgets, answers, and the free look at what is true."""

from datetime import timedelta

import pytest

from merging.models import Dependency, MergeFlow
from runs.clock import now
from runs.models import HumanTask, Run
from tests import queue_driver as queue
from tests.db.merging.stage import BRANCH, REPO

FILE = "feat-total.py"


def red(stage, **check):
    """A converged pull request whose required check failed."""
    stage.repository()
    stage.sim.verbs.protect(REPO, required_checks=["test"])
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_check(pull, "test", "FAILURE", **check)
    stage.converged(pull)
    stage.settle()
    return pull


def test_a_repair_that_pushes_is_merged_once_its_checks_are_green(stage):
    """MG-S2: one round is counted, and the head that the worker read is not foreign."""
    pull = red(stage)
    assert (stage.flow.state, stage.pull.state) == ("fixing_ci", "merging")
    attempt = stage.claimed("fix-ci")
    head = stage.push("total = 3\n")
    stage.sim.verbs.add_check(pull, "test", None)
    stage.ends(attempt, "fixed", head=head, pushed=True)
    stage.settle()
    assert (stage.flow.state, stage.flow.verdict_reason) == ("waiting_merge", "checks_pending")

    stage.sim.verbs.complete_checks(pull)
    stage.settle()
    assert (stage.flow.state, stage.flow.ci_fixes) == ("merged", 1)
    assert stage.attempts[0].expected_head == head
    assert not HumanTask.objects.exists()


def test_the_agent_is_given_names_links_and_the_end_of_the_log_as_data(stage):
    secret = "ghp_" + "a1B2" * 9
    red(stage, log="first line\n" + "x\n" * 400 + f"assert total == 3 with {secret}\n")
    attempt = stage.claimed("fix-ci")
    given_check = stage.variables(attempt)["failingChecks"][0]
    assert (given_check["name"], given_check["conclusion"], given_check["required"]) == ("test", "failure", True)
    assert given_check["url"]
    excerpt = given_check["logExcerpt"]
    assert "first line" not in excerpt
    assert "assert total == 3" in excerpt
    assert secret not in excerpt
    assert len(excerpt.splitlines()) == 200
    assert stage.variables(attempt)["ciFixRound"] == 0


def test_a_log_that_cannot_be_read_is_left_out(stage):
    red(stage)
    assert "logExcerpt" not in stage.variables(stage.claimed("fix-ci"))["failingChecks"][0]


def test_three_repairs_that_fail_ask_and_a_retry_gives_three_more(stage):
    """MG-S3, MG-H7: the fourth look asks a person; the counter never passes its limit."""
    pull = red(stage)
    for number in range(3):
        assert stage.flow.ci_fixes == number + 1
        stage.repaired(files={FILE: f"total = {number + 10}\n"})
        stage.sim.verbs.add_check(pull, "test", "FAILURE")
        stage.settle()
    assert (stage.flow.state, stage.task.refs["reason"], stage.flow.ci_fixes) == ("escalated", "checks_failing", 3)

    stage.answer(answer="Look at the rounding.")
    stage.settle()
    assert (stage.flow.state, stage.flow.ci_fixes) == ("fixing_ci", 1)
    given_input = stage.variables(stage.claimed("fix-ci"))
    assert given_input["answer"] == "Look at the rounding."
    assert "test failed" in given_input["question"]


def test_a_reattempt_runs_the_failed_jobs_once_and_merges_when_they_are_green(stage):
    """MG-S5: one re-run for a head and run."""
    pull = red(stage)
    stage.repaired("reattempt")
    assert stage.sim.log.count("rerun_failed") == 1
    assert (stage.flow.state, stage.flow.verdict_reason) == ("waiting_merge", "checks_pending")
    stage.sim.verbs.complete_checks(pull)
    stage.settle()
    assert (stage.flow.state, stage.flow.ci_fixes) == ("merged", 1)
    remedy = stage.flow.remedies.get()
    assert (remedy.kind, remedy.outcome) == ("rerun", "done")


def test_a_rerun_that_is_refused_is_noted_and_the_next_repair_follows(stage):
    red(stage)
    stage.sim.faults.fail_next("rerun_failed", 403)
    stage.repaired("reattempt")
    assert stage.flow.remedies.get().outcome == "refused"
    assert stage.flow.state == "waiting_merge"  # for a minute the checks may still begin
    stage.passes(minutes=2)
    stage.settle()
    assert (stage.flow.state, stage.flow.ci_fixes) == ("fixing_ci", 2)
    assert stage.sim.log.count("rerun_failed") == 1


def test_a_block_that_is_no_longer_true_asks_nobody(stage):
    """MG-S6: the head turned green meanwhile."""
    pull = red(stage)
    attempt = stage.claimed("fix-ci")
    stage.sim.verbs.add_check(pull, "test", "SUCCESS")
    stage.ends(attempt, "blocked", question="Which total is right?")
    stage.settle()
    assert stage.flow.state == "merged"
    assert "agent_blocked_unproven" in stage.edges
    assert not HumanTask.objects.exists()


def test_a_block_that_still_stands_asks_its_question_once(stage):
    """MG-S6: still red at the same head."""
    red(stage)
    stage.repaired("blocked", question="Which total is right?")
    stage.look()
    asked = HumanTask.objects.get()
    assert asked.refs["reason"] == "agent_question"
    assert "Which total is right?" in asked.question
    assert stage.flow.ci_fixes == 1

    stage.answer(answer="The first.")
    stage.settle()
    assert stage.variables(stage.claimed("fix-ci"))["answer"] == "The first."


@pytest.mark.parametrize("question", ["", "   ", None])
def test_a_blank_question_leads_to_the_next_try(stage, question):
    """MG-H9: nobody is paged with an empty page."""
    red(stage)
    stage.repaired("blocked", question=question)
    assert not HumanTask.objects.exists()
    assert (stage.flow.state, stage.flow.ci_fixes) == ("fixing_ci", 2)


def test_what_an_agent_waits_for_is_waited_for_and_merges_without_a_person(stage):
    """MG-S14: the reference becomes a dependency."""
    other = stage.pull_on_forge("feat/other")
    pull = red(stage)
    stage.repaired("Waiting-on-PR", dependsOn=f"#{other.number}")
    assert (stage.flow.state, stage.pull.state) == ("waiting_deps", "waiting_deps")
    found = Dependency.objects.get()
    assert (found.source, found.reference, found.added_by) == ("discovered", other.key, stage.flow.run_id)

    stage.sim.verbs.protect(REPO)
    stage.sim.verbs.merge_by_hand(other, method="merge")
    stage.sim.verbs.protect(REPO, required_checks=["test"])
    stage.sim.verbs.add_check(pull, "test", "SUCCESS")
    stage.settle()
    assert stage.flow.state == "merged"
    assert not HumanTask.objects.exists()


def test_a_wait_for_nothing_usable_is_derived_again(stage):
    pull = red(stage)
    stage.repaired("waiting_on_pr", dependsOn=["nothing", f"#{pull.number}"])
    assert not Dependency.objects.exists()
    assert stage.edges[-2:] == ["agent_ended", "ci_fix_begun"]


@pytest.mark.parametrize("ending", ["timeout", "agent_exit", "refused", "odd"])
def test_a_run_that_comes_to_nothing_is_a_counted_round(stage, ending):
    """MG-S25: timed out, the next try follows."""
    red(stage)
    attempt = stage.claimed("fix-ci")
    if ending == "refused":
        body = queue.refused_body(attempt, "permission_denied")
        body["result"]["outputContract"] = "factory.fix-ci/v1"
        queue.publish(attempt, body)
    elif ending == "odd":
        stage.ends(attempt, {"not": "a word"})
    else:
        queue.publish(attempt, queue.failed_body(attempt, ending))
    stage.settle()
    assert (stage.flow.state, stage.flow.ci_fixes) == ("fixing_ci", 2)


def test_a_run_that_does_not_end_is_stopped_two_hours_after_its_claim_and_asked_about(stage):
    """MG-S25: cancelled with its own code, one question."""
    red(stage)
    stage.claimed("fix-ci")
    stage.look()
    assert stage.flow.timer_at - now() > timedelta(minutes=119)
    stage.passes(hours=2, seconds=1)
    stage.look()
    assert stage.task.refs["reason"] == "agent_sla"
    assert Run.objects.filter(agent_ref="fix-ci@1").get().reason_code == "agent_sla"


def test_a_run_that_waits_for_a_worker_is_no_question(stage):
    """MG-S25: three hours in the queue are a matter of the pool."""
    red(stage)
    stage.passes(hours=3)
    stage.look()
    assert (stage.flow.state, stage.flow.timer_at) == ("fixing_ci", None)
    assert not HumanTask.objects.exists()


def test_a_merge_by_a_person_stops_the_agent(stage):
    """MG-S16: merged while it repairs."""
    pull = red(stage)
    stage.claimed("fix-ci")
    stage.sim.verbs.protect(REPO)
    stage.sim.verbs.merge_by_hand(pull, method="merge")
    stage.settle()
    assert stage.flow.state == "merged"
    assert stage.outcomes == [("merged", "merged_elsewhere")]
    run = Run.objects.filter(agent_ref="fix-ci@1").get()
    assert (run.state, run.reason_code) == ("cancelled", "subject_ended")


def test_a_cancel_stops_the_agent(stage):
    red(stage)
    stage.claimed("fix-ci")
    stage.cancel()
    run = Run.objects.filter(agent_ref="fix-ci@1").get()
    assert (run.state, run.reason_code, stage.flow.state) == ("cancelled", "flow_cancelled", "abandoned")


def test_a_push_of_somebody_else_while_the_agent_works_goes_back_to_review(stage):
    """MG-H2: only the head that the worker read counts as reviewed."""
    red(stage)
    attempt = stage.claimed("fix-ci")
    head = stage.push("total = 3\n")
    stage.push("total = 4\n")
    stage.ends(attempt, "fixed", head=head)
    stage.settle()
    assert "returned" in stage.edges
    assert stage.pull.generation == 2


def test_every_push_goes_back_to_review_where_the_policy_says_so(stage):
    stage.policy("reviewers: []\nmerging: {reviewAfter: any_push}\n")
    red(stage)
    stage.repaired(files={FILE: "total = 3\n"})
    assert "returned" in stage.edges
    assert MergeFlow.rows().get().state == "returned"


def test_without_a_budget_the_first_red_check_asks(stage):
    stage.config(max_ci_fix_rounds=0)
    red(stage)
    assert stage.task.refs["reason"] == "checks_failing"
    assert not Run.objects.filter(agent_ref="fix-ci@1").exists()


def test_the_runs_of_a_branch_exclude_each_other(stage):
    red(stage)
    run = Run.objects.get(agent_ref="fix-ci@1")
    assert run.exclusive_key == f"branch:{stage.repository().id}:{BRANCH}"

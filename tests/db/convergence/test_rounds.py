"""Rounds against the simulated GitHub: what the agent says, what the branch says, what a person answers."""

import pytest

from convergence.looks.look import convergence_look
from convergence.models import ConvergenceFlow, Escalation, Round, RoundTurn
from convergence.selectors.detail import pull_detail
from runs.clock import now
from runs.contract.errors import FactoryError, Invalid, Refused
from runs.models import HumanTask, Run
from runs.queue.attempts.reaper import Grace, reaper_pass
from tests import queue_driver as queue
from tests.db.convergence.stage import PERSON, REPO


def test_a_turn_that_pushes_nothing_asks_a_person(stage):
    """CV-S4, CV-H16: no retry, and the round stays addressed."""
    stage.begun()
    stage.agent({"status": "addressed"})
    stage.settle()
    assert stage.edges[-2:] == ["turn_addressed", "no_advance"]
    assert (stage.pull.state, Round.objects.get().status) == ("escalated", "addressed")
    assert Run.objects.count() == 1
    escalation = Escalation.objects.get()
    assert (escalation.reason, escalation.kind, escalation.state) == ("no_advance", "blocker", "open")
    assert f"{REPO}#" in stage.task.question
    assert stage.turn.probe == "no_advance"


def test_an_agent_that_dies_is_started_twice_more_after_pauses(stage):
    """CV-S5, CV-H15: the third loss asks a person; other ends of an attempt are never retried blindly."""
    stage.begun()
    for number in (1, 2, 3):
        stage.agent_fails()
        stage.look()
        if number < 3:
            assert stage.edges[-1] == "husk_retried"
            stage.settle()
            assert stage.flow.husk_retries == number
            assert stage.flow.round == 1
    assert stage.edges[-1] == "husk_exhausted"
    assert Run.objects.count() == 3
    assert stage.flow.husk_retries == 0
    assert Escalation.objects.get().reason == "husk_exhausted"
    assert "agent_exit" in stage.task.context


def test_work_that_was_pushed_before_a_crash_is_not_done_again(stage):
    """CV-S6: the branch moved, so the flow waits for its review."""
    stage.begun()
    stage.push()
    stage.agent_fails()
    stage.settle()
    assert stage.edges[-2:] == ["turn_lost", "progressed"]
    assert Run.objects.count() == 1


def test_the_last_round_retries_a_husk_and_stops_a_push(stage):
    """CV-S7: only a progressing round meets the cap; extra rounds of the answer raise it."""
    stage.begun(max_rounds=1)
    stage.agent_fails()
    stage.settle()
    assert "husk_retried" in stage.edges
    stage.push()
    stage.agent({"status": "addressed"})
    stage.settle()
    assert stage.edges[-1] == "round_cap_reached"
    stage.answer(answer="Once more.", extraRounds=2)
    stage.settle()
    assert stage.flow.max_rounds == 3
    assert (stage.flow.round, stage.flow.state) == (1, "review_round")


@pytest.mark.parametrize(("pushes", "edge"), [(True, "progressed"), (False, "no_advance")])
def test_a_result_that_is_missing_counts_as_addressed(stage, pushes, edge):
    """CV-S8: the branch says whether anything was done."""
    stage.begun()
    if pushes:
        stage.push()
    stage.agent({}, reason="result_defaulted")
    stage.settle()
    assert stage.edges[-1] == edge
    assert Round.objects.get().status == "addressed"


def test_an_odd_status_is_addressed_with_its_raw_value(stage):
    """CV-S9."""
    stage.begun()
    stage.push()
    stage.agent({"status": " converged "})
    stage.settle()
    assert stage.edges[-1] == "progressed"
    assert Round.objects.get().raw_status == " converged "


def test_an_answer_goes_on_with_the_same_round_once(stage):
    """CV-S10: the turn after the answer has it, the one after that has not."""
    stage.begun()
    stage.agent({"status": "needs_input", "question": "Sum or product?"})
    stage.settle()
    assert (stage.flow.state, stage.pull.state) == ("await_answer", "escalated")
    assert stage.task.question == "Sum or product?"
    stage.answer(answer="Sum.")
    stage.settle()
    assert stage.pull.state == "converging"
    spec = Run.objects.latest("id").spec_row.document
    assert (spec["input"]["answer"], spec["input"]["question"]) == ("Sum.", "Sum or product?")
    assert "Sum or product?" in spec["promptAppend"]
    assert "/hooks/abandon?token=" in spec["promptAppend"]
    assert (spec["input"]["round"], spec["input"]["turn"]) == (1, 2)
    escalation = Escalation.objects.get()
    assert (escalation.state, escalation.task.answered_by) == ("answered", PERSON)
    stage.agent_fails()
    stage.settle()
    later = Run.objects.latest("id").spec_row.document
    assert "answer" not in later["input"]
    assert later["input"]["turn"] == 3


def test_a_blank_question_parks_nobody(stage):
    """CV-S11, CV-H5: recorded as said, it claims no push."""
    stage.begun()
    stage.agent({"status": "needs_input", "question": "  "})
    stage.settle()
    assert stage.flow.state == "await_review"
    assert not HumanTask.objects.exists()
    assert Round.objects.get().status == "needs_input"


def test_a_head_that_did_not_move_is_reviewed_anew(stage):
    """CV-S11: a blank question asks nobody. The review was given to the round, so another one begins the next round."""
    pull = stage.pull_on_forge()
    stage.review(pull, body="Odd.")
    stage.submit(pull)
    stage.settle()
    stage.agent({"status": "needs_input", "question": "  "})
    stage.settle()
    assert (stage.flow.state, stage.pull.state, stage.task) == ("await_review", "waiting_review", None)
    assert stage.sim.log.count("request_review") == 1
    stage.review(pull, body="Still odd.")
    stage.settle()
    assert (stage.flow.state, stage.flow.round) == ("review_round", 2)


def test_an_answer_is_given_once_and_never_blank(stage):
    """CV-S12."""
    stage.begun()
    stage.agent({"status": "blocked", "question": "No access to the registry."})
    stage.settle()
    task = stage.task
    with pytest.raises(Invalid) as blank:
        stage.answer(answer="   ")
    assert blank.value.details["fields"] == {"answer": "required"}
    assert stage.task == task
    stage.answer(answer="It is mirrored.")
    with pytest.raises(Refused) as again:
        queue_answer(task)
    assert again.value.code == "already_answered"
    assert Escalation.objects.get().reason == "blocked"


def queue_answer(task):
    from runs.humans.tasks import task_answer

    return task_answer(task_id=task.pk, variables={"answer": "Twice."}, actor=PERSON)


def test_an_answer_may_abandon_the_pull_request(stage):
    stage.begun()
    stage.agent({"status": "needs_input", "question": "Go on?"})
    stage.settle()
    stage.answer(resolution="abandon")
    stage.settle()
    assert stage.pull.state == "abandoned"
    assert stage.pull.generations.get().outcome == "abandoned by ann"


def test_a_run_that_a_person_cancelled_asks_a_person(stage):
    from runs.queue.cancel import run_cancel

    stage.begun()
    run_cancel(run=Run.objects.get(), code="operator_cancel", actor=PERSON)
    stage.settle()
    assert stage.edges[-1] == "run_cancelled"
    assert "cancelled by ann" in stage.task.question


def test_a_refusal_with_a_question_asks_that_question(stage):
    stage.begun()
    attempt = stage.claim()
    body = queue.refused_body(attempt)
    body["result"]["decision"] = {
        "schemaVersion": "factory.decision-request/v1",
        "question": "May I change the schema?",
        "options": [{"id": "yes", "label": "Yes"}],
    }
    queue.publish(attempt, body)
    stage.settle()
    assert stage.edges[-1] == "asked_input"
    assert stage.task.question == "May I change the schema?"


def test_any_other_refusal_is_told(stage):
    stage.begun()
    attempt = stage.claim()
    queue.publish(attempt, queue.refused_body(attempt, "missing_input"))
    stage.settle()
    assert stage.edges[-1] == "run_refused"
    assert "missing_input" in stage.task.question


def test_the_agents_time_runs_from_its_first_claim(stage):
    """CV-S42: in the queue nothing happens; two hours after the claim the run is cancelled and a person asked."""
    stage.begun()
    stage.passes(hours=3)
    stage.settle()
    assert stage.flow.state == "review_round"
    stage.claim()
    stage.settle()
    stage.passes(hours=2, minutes=1)
    stage.settle()
    assert stage.edges[-1] == "agent_sla_passed"
    run = Run.objects.get()
    assert (run.state, run.reason_code) == ("cancelled", "agent_sla")
    assert Escalation.objects.get().reason == "agent_sla"


def test_a_late_result_of_an_older_generation_changes_nothing(stage):
    """CV-H2: it is refused at the queue, and no row of the new generation hears of it."""
    from convergence.services.cancel import pull_cancel

    pull = stage.begun()
    attempt = stage.claim()
    pull_cancel(pull=stage.pull, actor=PERSON)
    stage.submit(pull)
    with pytest.raises(FactoryError):
        stage.publish(attempt, {"status": "converged"})
    stage.settle()
    assert stage.flow.state == "review_round"
    assert stage.flow.generation == 2


def lost(stage):
    """The worker falls silent, and the reaper takes the run back."""
    attempt = stage.claim()
    queue.beat(attempt, "running", 1)
    queue.make_due(attempt, silent=True)
    assert reaper_pass(Grace(judged_from=now())) == 1


def test_a_worker_that_is_lost_is_a_husk_each_time(stage):
    """CV-S5, CV-H15: two more starts, then a person, who is told each attempt's worker and reason."""
    stage.begun()
    for number in (1, 2):
        lost(stage)
        stage.look()
        assert stage.edges[-2:] == ["turn_lost", "husk_retried"]
        assert stage.flow.due_at > now()
        stage.look()
        assert (stage.flow.state, stage.flow.husk_retries, stage.flow.turn) == ("review_round", number, number + 1)
    lost(stage)
    stage.look()
    assert stage.edges[-1] == "husk_exhausted"
    assert "worker_lost" in stage.task.context


def test_work_that_was_pushed_before_the_worker_was_lost_is_not_done_again(stage):
    """CV-S6."""
    stage.begun()
    stage.push()
    lost(stage)
    stage.look()
    assert stage.edges[-2:] == ["turn_lost", "progressed"]
    assert Run.objects.count() == 1


def test_converged_and_to_be_merged_it_is_handed_over_at_once(stage):
    """CV-H3: the pull request goes from converging to waiting for dependencies in one transaction."""
    pull = stage.begun()
    stage.review(pull, clean=True)
    stage.agent({"status": "converged"})
    stage.step()
    stage.step()
    assert stage.flow.state == "converged"
    assert stage.pull.state == "waiting_deps"
    assert stage.pull.generations.get().outcome == "converged"


def test_a_setting_that_forbids_merging_ends_at_converged(stage, settings):
    settings.FACTORY = settings.FACTORY.model_copy(update={"auto_merge": False})
    pull = stage.begun()
    stage.review(pull, clean=True)
    stage.agent({"status": "converged"})
    stage.settle()
    assert (stage.flow.state, stage.pull.state) == ("converged", "converged")
    settings.FACTORY = settings.FACTORY.model_copy(update={"auto_merge": True})
    told = pull_detail(stage.pull).rests_because
    assert told is not None
    assert "FACTORY_AUTO_MERGE was off when it converged" in told


def test_a_look_that_another_one_overtook_leaves_no_trace(stage, caplog):
    """A wake-up during a look lets a second one begin; the slower of the two writes nothing and is no fault."""
    stage.submit(stage.pull_on_forge())
    first, late = ConvergenceFlow.objects.get(), ConvergenceFlow.objects.get()
    convergence_look([first])
    assert stage.flow.state == "review_round"
    edges = stage.edges
    convergence_look([late])
    assert stage.edges == edges
    assert (RoundTurn.objects.count(), Run.objects.count()) == (1, 1)
    assert (stage.flow.look_failures, stage.flow.last_look_error) == (0, "")
    assert not [record for record in caplog.records if record.exc_info]

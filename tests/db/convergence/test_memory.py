"""Remembered answers, and taking answers back, against the simulated GitHub."""

import pytest

from convergence.models import Adjudication, Escalation
from convergence.services.submit import pull_resubmit
from runs.clock import now
from runs.contract.errors import Refused
from runs.humans.tasks import task_revert
from runs.models import HumanTask, Run
from runs.transactions import joined_transaction
from tests.db.convergence.stage import PERSON
from tests.db.convergence.test_acks import spec

ASKS = {"status": "needs_input", "question": "Sum or **product**?"}
AGAIN = {"status": "needs_input", "question": "sum or product"}
ANN, BEN = "operator:ann", "operator:ben"


def answered(stage, text="Sum."):
    """The agent asked in round 1, and a person answered."""
    pull = stage.begun(auto_merge=False)
    stage.agent(ASKS)
    stage.settle()
    task = stage.answer(answer=text)
    stage.settle()
    assert spec()["answer"] == text
    return pull, task


def next_round(stage, pull, text):
    stage.push(text)
    stage.agent({"status": "addressed"})
    stage.look()
    stage.look()
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": f"Why {text}?"}])
    stage.settle()
    assert stage.flow.state == "review_round"


def test_a_question_of_a_later_round_is_answered_from_memory(stage):
    """CV-S13, CV-H17: in the name of the person who decided, with nobody asked."""
    pull, first = answered(stage)
    for number in range(3):
        next_round(stage, pull, f"total = {number}\n")
    stage.agent(AGAIN)
    stage.look()
    assert "answer_recalled" in stage.edges
    stage.settle()
    assert (stage.flow.state, stage.flow.round, stage.pull.state) == ("review_round", 4, "converging")
    assert (spec()["answer"], spec()["question"]) == ("Sum.", "sum or product")
    recalled = HumanTask.objects.latest("id")
    assert (recalled.state, recalled.answered_by, recalled.refs["answeredAs"]) == ("auto_answered", PERSON, first.pk)
    escalation = Escalation.objects.latest("id")
    assert (escalation.auto_applied, escalation.state, escalation.round) == (True, "answered", 4)
    assert not HumanTask.objects.filter(state="open").exists()


def test_the_answer_in_use_is_taken_back_and_asked_anew(stage):
    """CV-S13, CV-H17: its run is cancelled, and what was learned is void."""
    pull, _ = answered(stage)
    next_round(stage, pull, "total = 3\n")
    stage.agent(AGAIN)
    stage.settle()
    stage.claim()
    task_revert(task_id=HumanTask.objects.latest("id").pk, actor=BEN, note="It is a product now.")
    stage.settle()
    run = Run.objects.latest("id")
    assert (run.state, run.reason_code) == ("cancelled", "answer_reverted")
    assert (stage.flow.state, stage.edges[-1], stage.task.question) == (
        "await_answer",
        "answer_reverted",
        "sum or product",
    )
    assert "ben took the answer of ann back" in stage.task.context
    assert not Adjudication.objects.filter(ended_at__isnull=True).exists()
    gone = Adjudication.objects.get()
    assert (gone.ended_why, gone.ended_by) == ("reverted", BEN)
    stage.answer(answer="Product.")
    stage.settle()
    assert spec()["answer"] == "Product."
    assert Adjudication.objects.get(ended_at__isnull=True).escalation.task.variables["answer"] == "Product."


def test_the_persons_own_answer_may_be_taken_back_before_its_turn_begins(stage):
    _, _ = answered(stage)
    stage.agent({"status": "needs_input", "question": "And the unit?"})
    stage.settle()
    task = stage.answer(answer="Cents.")
    stage.step()
    assert stage.flow.state == "capture_head"
    task_revert(task_id=task.pk, actor=BEN)
    stage.step()
    assert (stage.flow.state, stage.edges[-1]) == ("await_answer", "answer_reverted")
    assert Run.objects.count() == 2


def test_an_answer_that_was_worked_already_is_only_unlearned(stage):
    """CV-H17: the flow goes on, and the next question of that kind asks a person."""
    pull, task = answered(stage)
    next_round(stage, pull, "total = 3\n")
    edges = stage.edges
    task_revert(task_id=task.pk, actor=BEN)
    stage.look()
    assert stage.edges == edges
    stage.agent(AGAIN)
    stage.settle()
    assert (stage.flow.state, stage.edges[-1]) == ("await_answer", "asked_input")
    with pytest.raises(Refused) as twice:
        task_revert(task_id=task.pk, actor=BEN)
    assert twice.value.code == "already_reverted"


def test_the_same_question_in_the_same_round_asks_a_person(stage):
    """CV-S14, CV-H17: who is told that it was answered."""
    answered(stage)
    stage.agent(AGAIN)
    stage.settle()
    assert (stage.flow.state, stage.edges[-1]) == ("await_answer", "asked_input")
    assert "The answer that ann gave to this question was used in this round already" in stage.task.context
    assert "Sum." in stage.task.context


def test_a_remembered_answer_is_used_once_a_round(stage):
    """CV-S14, CV-H17."""
    pull, _ = answered(stage)
    next_round(stage, pull, "total = 3\n")
    stage.agent(AGAIN)
    stage.settle()
    assert stage.edges[-2:] == ["answer_recalled", "entry_captured"]
    stage.agent(ASKS)
    stage.settle()
    assert (stage.flow.state, stage.edges[-1]) == ("await_answer", "asked_input")


def test_after_a_resubmit_by_a_person_everything_is_asked_anew(stage):
    """CV-S13, CV-H17."""
    from convergence.services.cancel import pull_cancel

    pull, _ = answered(stage)
    pull_cancel(pull=stage.pull, actor=PERSON)
    stage.submit(pull)
    stage.settle()
    stage.agent(ASKS)
    stage.settle()
    assert (stage.flow.generation, stage.edges[-1], stage.task.question) == (2, "asked_input", "Sum or **product**?")


def test_a_return_by_the_merge_flow_keeps_what_was_decided(stage):
    """CV-H17: nobody asked to decide anew; the name goes along."""
    pull, _ = answered(stage)
    stage.review(pull, clean=True)
    stage.agent({"status": "converged"})
    stage.settle()
    assert stage.flow.state == "converged"
    with joined_transaction():
        pull_resubmit(pull=stage.pull, actor="flow:merge:x", now=now())
    stage.settle()
    stage.agent(AGAIN)
    stage.settle()
    assert stage.edges[-2:] == ["answer_recalled", "entry_captured"]
    assert Adjudication.objects.get(generation=2).decided_by == PERSON
    assert Escalation.objects.latest("id").task.answered_by == PERSON


def test_other_questions_are_not_remembered(stage):
    stage.begun()
    stage.agent({"status": "addressed"})
    stage.settle()
    assert stage.edges[-1] == "no_advance"
    stage.answer(answer="Push it.")
    stage.settle()
    assert not Adjudication.objects.exists()


def test_an_answer_that_ended_the_pull_request_is_not_taken_back(stage):
    stage.begun()
    stage.agent(ASKS)
    stage.settle()
    task = stage.answer(resolution="abandon")
    with pytest.raises(Refused) as early:
        task_revert(task_id=task.pk, actor=BEN)
    assert early.value.code == "stale"
    stage.settle()
    with pytest.raises(Refused) as late:
        task_revert(task_id=task.pk, actor=BEN)
    assert late.value.code == "already_decided"
    assert HumanTask.objects.get().state == "answered"

"""Runs that refuse and ask a person."""

import pytest

from runs.contract.canonical import document_hash
from runs.contract.errors import Invalid, Refused
from runs.contract.wire import DECISION_VERSION
from runs.definitions.sync import definitions_sync
from runs.humans.tasks import task_answer
from runs.models import HumanTask, Run
from tests.queue_driver import claim, enqueue, publish, refused_body
from tests.site_agents import load_reader, started

ANN = "operator:ann"
DECISION = {
    "schemaVersion": DECISION_VERSION,
    "question": "Which of the two release branches is meant?",
    "context": "Both were built last night.",
    "options": [
        {"id": "old", "label": "1.4", "effect": "rerun_with_answer"},
        {"id": "none", "label": "Neither", "effect": "dismiss"},
    ],
}


@pytest.fixture
def site(tmp_path):
    load_reader(tmp_path)
    return tmp_path


def refuses(code="needs_human", *, decision=None, artifact=None):
    """A started run whose agent refuses."""
    run = started(subject="host:build-7")
    attempt = claim()
    body = refused_body(attempt, code)
    body["result"] |= {"outputContract": "site.log-reader/v1", "decision": decision, "artifact": artifact}
    body["result"]["artifactHash"] = None if artifact is None else document_hash(artifact)
    publish(attempt, body)
    run.refresh_from_db()
    assert (run.state, run.reason_code) == ("refused", code)
    return run


def answer(**variables):
    return task_answer(task_id=HumanTask.objects.get().pk, variables=variables, actor=ANN)


@pytest.mark.usefixtures("site")
def test_the_agents_own_question_and_choices_reach_a_person_and_the_answer_reaches_the_agent():
    run = refuses(decision=DECISION)
    task = HumanTask.objects.get()
    assert (task.kind, task.subject, task.question) == ("run_refused", "host:build-7", DECISION["question"])
    assert task.context == "Both were built last night."
    task = answer(decision="old", answer="The one of last week.")
    again = Run.objects.exclude(pk=run.pk).get()
    assert (task.effect, task.effect_state, task.refs) == (
        "rerun_with_answer",
        "applied",
        {"runId": run.run_id, "startedRunId": again.run_id},
    )
    spec = again.spec_row.document
    assert (again.agent_ref, again.subject, again.causation_id) == (run.agent_ref, run.subject, f"run:{run.run_id}")
    assert (again.correlation_id, spec["input"]) == (run.correlation_id, {"log": "boom"})
    assert spec["promptAppend"].endswith("A person answered:\n\n1.4\n\nThe one of last week.")
    assert DECISION["question"] in spec["promptAppend"]


@pytest.mark.usefixtures("site")
def test_a_dismissed_question_starts_nothing():
    refuses(decision=DECISION)
    assert answer(decision="none").effect == "dismiss"
    assert Run.objects.count() == 1


@pytest.mark.usefixtures("site")
def test_without_a_decision_request_the_summary_is_the_question_and_the_answer_is_a_text():
    refuses(artifact={"summary": "The log names two branches."})
    assert HumanTask.objects.get().question == "The log names two branches."
    with pytest.raises(Invalid) as told:
        answer(decision="answer")
    assert told.value.details["fields"] == {"answer": "required"}
    answer(decision="answer", answer="main")
    assert Run.objects.latest("pk").spec_row.document["promptAppend"].endswith("answered:\n\nmain")


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "options",
    [[{"id": "a", "label": "A", "effect": "conquer"}], [{"id": "a", "label": "A"}, {"id": "a", "label": "B"}]],
    ids=["an unknown effect", "one id twice"],
)
def test_choices_that_cannot_be_offered_leave_the_plain_question_and_say_why(options):
    refuses(decision={**DECISION, "options": options})
    task = HumanTask.objects.get()
    assert [choice["id"] for choice in task.form["fields"][0]["choices"]] == ["answer", "dismiss"]
    assert task.question == DECISION["question"]
    assert "The agent offered choices of its own" in task.context


@pytest.mark.usefixtures("site")
def test_other_refusals_and_steps_of_flows_ask_nobody_here():
    """A flow asks for its own runs: one question, one task."""
    refuses("missing_input")
    enqueue()
    attempt = claim()
    publish(attempt, refused_body(attempt))
    assert not HumanTask.objects.exists()


def test_an_answer_for_an_agent_that_is_gone_is_refused_and_the_question_stays(site):
    refuses(decision=DECISION)
    (site / "agents" / "log-reader.yaml").unlink()
    definitions_sync(actor=ANN)
    with pytest.raises((Invalid, Refused)) as told:
        answer(decision="old")
    assert told.value.code == "unknown_definition"
    task = HumanTask.objects.get()
    assert (task.state, task.effect) == ("open", "")

"""The trajectory of findings and the churn that it shows, against the simulated GitHub."""

import pytest

from convergence.models import Escalation, Finding, FindingStatus
from convergence.services.findings import entries_of

TWO_ROUNDS = "convergence: {scopeCheck: never, churnRounds: 2}\n"


def entered(stage, pull, *texts):
    """A review with one thread for each text begins the next round."""
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": text} for text in texts])
    stage.settle()
    assert stage.flow.state == "review_round"


def pushed(stage, text, *, resolve=()):
    """The agent pushes and resolves the threads with these texts."""
    stage.push(text)
    ids = [t["id"] for t in stage.turn.backlog["threads"] if any(word in str(t["comments"]) for word in resolve)]
    answers = [{"id": name, "resolve": True} for name in ids]
    stage.agent({"status": "addressed", "threads": answers})
    stage.look()
    stage.look()
    stage.effects()


def trends(text):
    rows = FindingStatus.objects.filter(finding__text=text).order_by("round__number", "id")
    return list(rows.values_list("round__number", "trend"))


def begun(stage):
    pull = stage.pull_on_forge()
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Name it."}])
    stage.submit(pull, auto_merge=False)
    stage.settle()
    return pull


def test_each_entry_records_how_every_finding_stands(stage):
    pull = begun(stage)
    assert trends("Name it.") == [(1, "new")]
    pushed(stage, "total = 2\n")
    entered(stage, pull, "Type it.")
    pushed(stage, "total = 3\n", resolve=["Name it."])
    entered(stage, pull, "Test it.")
    assert trends("Name it.") == [(1, "new"), (2, "repeat"), (3, "gone")]
    assert trends("Type it.") == [(2, "new"), (3, "repeat")]
    assert Finding.objects.get(text="Name it.").closed_as == "fixed"
    told = [(each.open, each.new, each.repeat, each.gone) for each in entries_of(stage.pull, 1)]
    assert told == [(1, 1, 0, 0), (2, 1, 1, 0), (2, 1, 1, 1)]


def test_a_finding_that_came_back_twice_asks_a_person_once(stage):
    """CV-S37: the next push after the answer goes to the review wait."""
    pull = begun(stage)
    for number in (2, 3):
        pushed(stage, f"total = {number}\n", resolve=["ame it"])
        entered(stage, pull, "name it")
    assert sorted(trends("name it")) == [(2, "reopened"), (3, "gone"), (3, "reopened")]
    stage.push("total = 4\n")
    stage.agent({"status": "addressed"})
    stage.step()
    stage.step()
    assert stage.edges[-1] == "churn_detected"
    escalation = Escalation.objects.get()
    assert (escalation.reason, escalation.kind, escalation.round) == ("churn", "question", 3)
    assert "Keeps coming back: app.py: name it" in stage.task.context
    assert "round 1: 1 open (1 new, 0 still open, 0 reopened), 0 closed" in stage.task.context
    assert "extraRounds" in [field["id"] for field in stage.task.form["fields"]]
    stage.answer(answer="Call it total.", extraRounds=1)
    stage.settle()
    stage.push("total = 5\n")
    stage.agent({"status": "addressed"})
    stage.step()
    stage.step()
    assert stage.edges[-1] == "progressed"
    assert stage.flow.max_rounds == 21


@pytest.mark.parametrize(("policy", "rounds"), [("", 5), (TWO_ROUNDS, 3)])
def test_rounds_that_do_not_get_better_ask_a_person(stage, policy_file, policy, rounds):
    """CV-S38: with the table of rounds; again only after as many rounds more."""
    if policy:
        policy_file(policy)
    pull = stage.pull_on_forge()
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": f"Point {n}."} for n in "abc"])
    stage.submit(pull, auto_merge=False)
    stage.settle()
    for number in range(2, rounds + 1):
        pushed(stage, f"total = {number}\n")
        assert "churn_detected" not in stage.edges
        stage.review(pull, body=f"Still {number}.")
        stage.settle()
    stage.push("total = 99\n")
    stage.agent({"status": "addressed"})
    stage.step()
    stage.step()
    assert stage.edges[-1] == "churn_detected"
    assert stage.flow.churn_round == rounds
    assert f"round {rounds}: 3 open (0 new, 3 still open, 0 reopened), 0 closed" in stage.task.context


def test_the_detector_may_be_off(stage, policy_file):
    policy_file("convergence: {scopeCheck: never, churnRounds: 0}\n")
    pull = begun(stage)
    for number in (2, 3, 4):
        pushed(stage, f"total = {number}\n", resolve=["ame it"])
        entered(stage, pull, "name it")
    pushed(stage, "total = 5\n")
    assert stage.edges[-1] in {"progressed", "review_arrived"}
    assert "churn_detected" not in stage.edges

"""Commands with the verbs of the API: the same services, the same audit, one line for a mistake."""

import json

import pytest

from runs.models import HumanTask, JournalRow, Outbox, Run, TransitionLog
from tests import queue_driver
from tests.db.commands.conftest import dana, manage, refused  # noqa: F401 -- Dana types here too

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(db):  # noqa: ARG001 - it opens the database
    queue_driver.load_definitions()
    return queue_driver.enqueue()


def test_pull_requests_are_listed_and_shown_as_the_api_has_them(world, viewer):
    listed = manage("prs", "list")
    assert [world.escalated.key in line for line in listed.splitlines()].count(True) == 1
    answer = viewer.get("/api/v1/pull-requests?state=escalated").json()
    assert json.loads(manage("prs", "list", "--state", "escalated", "--json"))["items"] == answer["items"]
    path = world.escalated.key.replace("#", "/")
    shown = json.loads(manage("prs", "show", world.escalated.key, "--json"))
    assert shown == viewer.get(f"/api/v1/pull-requests/{path}").json()
    text = manage("prs", "show", world.escalated.url)
    assert "would move on: answer" in text
    assert f"question {world.task.pk} (open)" in text


def test_a_cancelled_pull_request_names_who_and_why(world):
    assert manage("prs", "cancel", world.escalated.key, "--reason", "not wanted") == (
        f"{world.escalated.key} is abandoned\n"
    )
    row = TransitionLog.objects.filter(subject=world.escalated.subject).latest("id")
    assert (row.edge, row.actor, row.note) == ("cancelled", "operator:dana@cli", "not wanted")


def test_a_look_is_taken_once_in_ten_seconds(world):
    assert "is looked at" in manage("prs", "look", world.waiting.key)
    assert "a moment ago" in refused("prs", "look", world.waiting.key)


def test_an_answer_is_typed_by_its_form_and_records_who_gave_it(world):
    assert f"manage.py tasks answer {world.task.pk}" in manage("tasks", "show", str(world.task.pk))
    given = ["answer=per host", "resolution=retry", "extraRounds=2"]
    assert "is answered" in manage("tasks", "answer", str(world.task.pk), *given)
    task = HumanTask.objects.get(pk=world.task.pk)
    assert (task.answered_by, task.variables["extraRounds"]) == ("operator:dana@cli", 2)
    again = refused("tasks", "answer", str(world.task.pk), *given)
    assert again == "Already answered by dana@cli. Nothing was changed; see: manage.py tasks list"
    assert str(world.task.pk) not in manage("tasks", "list").split()


def test_a_question_is_taken_snoozed_and_its_answer_taken_back(world):
    key = str(world.task.pk)
    assert "is taken by operator:dana@cli" in manage("tasks", "take", key)
    assert "is taken by nobody" in manage("tasks", "take", key, "--back")
    assert "is silent until" in manage("tasks", "snooze", key, "72", "--note", "Ben is back then.")
    assert "within the next 7 days" in refused("tasks", "snooze", key, "200", "--note", "Later.")
    assert "is reverted" in manage("tasks", "revert", str(world.remembered.pk), "--note", "Changed our mind.")
    assert "taken this answer back already" in refused("tasks", "revert", str(world.remembered.pk))


def test_a_refused_reviewer_is_asked_again(world):
    repository = world.waiting.repository.full_name
    assert "it was not asked until" in manage("prs", "probe-reviewer", repository, "copilot")
    assert "it was not marked" in manage("prs", "probe-reviewer", repository, "copilot")
    assert "no reviewer of" in refused("prs", "probe-reviewer", repository, "nobody")


def test_runs_are_listed_shown_explained_and_cancelled(run, viewer):
    assert json.loads(manage("runs", "list", "--json"))["items"] == viewer.get("/api/v1/runs").json()["items"]
    assert json.loads(manage("runs", "show", run.run_id, "--json")) == viewer.get(f"/api/v1/runs/{run.run_id}").json()
    assert "no worker is running" in manage("runs", "why", run.run_id)
    assert "no trace yet" in manage("runs", "trace", run.run_id)
    assert refused("runs", "receipt", run.run_id).endswith("; see: manage.py runs list")
    assert "is cancelled" in manage("runs", "cancel", run.run_id, "--reason", "a mistake")
    row = JournalRow.objects.filter(run=run).latest("seq")
    assert (row.actor, row.reason_code, row.detail["reason"]) == ("operator:dana@cli", "operator_cancel", "a mistake")
    assert "cancel by operator:dana@cli" in manage("runs", "show", run.run_id)
    assert "cannot be cancelled; see: manage.py runs list" in refused("runs", "cancel", run.run_id)


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["prs", "show", "acme/web#99999"], "acme/web#99999 was never submitted here; see: manage.py prs list"),
        (["prs", "cancel", "acme/web"], "see: manage.py prs list"),
        (["prs", "look", "https://elsewhere.example.org/a/b/pull/1"], "see: manage.py prs list"),
        (["prs", "list", "--limit", "0"], "--limit takes 1 to 200, not 0"),
        (["tasks", "show", "99999"], "There is no task 99999; see: manage.py tasks list"),
        (["tasks", "answer", "99999999999999999999", "a=b"], "see: manage.py tasks list"),
        (["runs", "show", "run_x"], "There is no run run_x; see: manage.py runs list"),
        (["runs", "cancel", "run_x"], "There is no run run_x; see: manage.py runs list"),
        (["submit", "acme/web"], "see: manage.py prs list"),
        (["tokens", "revoke", "none"], "manage.py tokens list"),
        (["tokens", "issue", "t", "--role", "viewer"], "start `manage.py serve` once"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_next_command(world, argv, told):  # noqa: ARG001 - a filled product
    before = [model.objects.count() for model in (Run, HumanTask, TransitionLog, Outbox)]
    assert told in refused(*argv)
    assert [model.objects.count() for model in (Run, HumanTask, TransitionLog, Outbox)] == before


@pytest.mark.parametrize(
    "given", ["answer", "=x", "nothing=1", "resolution=maybe", "extraRounds=many", "extraRounds=1.5"]
)
def test_a_wrong_answer_is_refused_and_the_question_stays_open(world, given):
    told = refused("tasks", "answer", str(world.task.pk), "answer=x", given)
    assert "does not fit the form" in told or "is no FIELD=VALUE; see: manage.py tasks show" in told
    assert HumanTask.objects.get(pk=world.task.pk).state == "open"

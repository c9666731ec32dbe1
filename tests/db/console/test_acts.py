import uuid
from http import HTTPStatus

import pytest
from django.test import Client

from convergence.models import ConvergenceFlow
from factory_site.console.sign_in import TRIES
from factory_site.models import SignInFailure, Submission
from runs.models import User
from runs.models.transition import TransitionLog
from runs.models.user import Role
from tests.browser.world import person
from tests.db.console.conftest import Visitor

pytestmark = pytest.mark.django_db


def text(response):
    return response.content.decode()


def address(pull):
    return f"/pull-requests/{pull.repository.full_name}/{pull.number}/"


def answer(visitor, task, **fields):
    fields.setdefault("seen", task.seen_hash)
    fields.setdefault("resolution", "retry")
    fields.setdefault("extraRounds", "0")
    return visitor.post(f"/tasks/{task.pk}/complete/", **fields)


def test_an_answer_is_recorded_without_scripts(operator, world):
    """303 to the page, which shows the answer with its maker."""
    response = answer(operator, world.task, answer="Per upload, as the issue says.")
    assert (response.status_code, response["Location"]) == (HTTPStatus.SEE_OTHER, f"/tasks/{world.task.pk}/")
    world.task.refresh_from_db()
    assert (world.task.state, world.task.answered_by) == ("answered", "operator:ops-1")
    assert world.task.variables == {
        "answer": "Per upload, as the issue says.",
        "resolution": "retry",
        "extraRounds": 0,
    }
    page = text(operator.get(response["Location"]))
    assert "Per upload, as the issue says." in page
    assert "Your answer is recorded." in page


def test_a_wrong_answer_keeps_what_was_typed(operator, world):
    response = answer(operator, world.task, answer="keep me", extraRounds="500")
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert "Extra rounds is a whole number from 0 to 20. You typed 500." in text(response)
    assert ">keep me</textarea>" in text(response)
    assert 'href="#field-extraRounds"' in text(response)


def test_the_second_of_two_answers_sees_the_first_and_keeps_its_text(operator, world):
    """CO-H12, CO-S3: the first answer wins; the second gets 409 with its maker."""
    other = Visitor(person("ops-2", Role.OPERATOR))
    answer(operator, world.task, answer="first")
    response = answer(other, world.task, answer="second words")
    assert response.status_code == HTTPStatus.CONFLICT
    assert "Already answered by ops-1. Nothing was changed." in text(response)
    assert "second words" in text(response)
    assert "first" in text(response)
    world.task.refresh_from_db()
    assert world.task.variables["answer"] == "first"


def test_an_answer_to_another_question_than_the_one_shown_is_refused(operator, world):
    """CO-H10: an outdated hash changes nothing, answers 409 and keeps the input."""
    response = answer(operator, world.task, answer="for the old one", seen="sha256:old")
    assert response.status_code == HTTPStatus.CONFLICT
    assert "for the old one</textarea>" in text(response)
    world.task.refresh_from_db()
    assert world.task.state == "open"


def test_an_answer_without_its_hash_is_refused(operator, world):
    assert answer(operator, world.task, answer="x", seen="").status_code == HTTPStatus.CONFLICT


def test_the_same_form_acts_once(operator, world):
    """CO-H9: a re-sent form is answered as the first time."""
    key = str(uuid.uuid4())
    first = answer(operator, world.task, answer="once", submission=key)
    second = answer(operator, world.task, answer="once", submission=key)
    assert (first.status_code, first["Location"]) == (second.status_code, second["Location"])
    assert Submission.objects.filter(pk=key).count() == 1


def test_a_refused_form_may_be_sent_again(operator, world):
    key = str(uuid.uuid4())
    assert answer(operator, world.task, answer="", submission=key).status_code == HTTPStatus.BAD_REQUEST
    assert answer(operator, world.task, answer="now", submission=key).status_code == HTTPStatus.SEE_OTHER


def test_a_form_still_in_hand_is_not_acted_on_twice(operator, world):
    from runs.clock import now

    path = f"/tasks/{world.task.pk}/complete/"
    row = Submission.objects.create(key=uuid.uuid4(), user=world.operator, path=path, created_at=now())
    response = answer(operator, world.task, answer="x", submission=str(row.key))
    assert response.status_code == HTTPStatus.CONFLICT
    assert "It acts once." in text(response)


def test_a_cancel_needs_a_reason_and_the_generation_that_was_seen(operator, world):
    """CO-H14, CO-H10: without its reason, or on an outdated page, nothing is cancelled."""
    path = f"{address(world.waiting)}cancel/"
    blank = operator.post(path, seen="1", reason=" ")
    assert blank.status_code == HTTPStatus.BAD_REQUEST
    outdated = operator.post(path, seen="0", reason="no longer wanted")
    assert outdated.status_code == HTTPStatus.CONFLICT
    assert "is at generation 1 by now" in text(outdated)
    assert 'value="no longer wanted"' in text(outdated)
    assert ConvergenceFlow.objects.get(pull=world.waiting).state == "await_review"


def test_a_cancel_ends_the_pull_request_and_stands_in_the_log(operator, world):
    """The page says Abandoned; the log holds who and why."""
    response = operator.post(f"{address(world.waiting)}cancel/", seen="1", reason="superseded by #430")
    assert response.status_code == HTTPStatus.SEE_OTHER
    page = text(operator.get(f"{response['Location']}?tab=audit"))
    assert "Abandoned" in page
    assert "superseded by #430" in page
    row = TransitionLog.objects.filter(subject=world.waiting.subject).latest("id")
    assert (row.edge, row.actor) == ("cancelled", "operator:ops-1")
    outcome = text(operator.get(address(world.waiting))).partition('id="outcome"')[2].partition("</section>")[0]
    assert "Cancelled by ops-1" in outcome
    assert "superseded by #430" in outcome
    again = operator.post(f"{address(world.merged)}cancel/", seen="1", reason="too late")
    assert again.status_code == HTTPStatus.CONFLICT
    assert "already ended" in text(again)


def test_looking_twice_within_ten_seconds_is_told_the_wait(operator, world):
    """CO-S6: the second look answers 429 with the seconds."""
    path = f"{address(world.waiting)}look/"
    assert operator.post(path).status_code == HTTPStatus.SEE_OTHER
    due = ConvergenceFlow.objects.get(pull=world.waiting).due_at
    second = operator.post(path)
    assert ConvergenceFlow.objects.get(pull=world.waiting).due_at == due
    assert second.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "try again in" in text(second)


def test_a_bad_reference_is_refused_with_the_form_as_it_was(operator):
    response = operator.post("/pull-requests/", reference="not a reference", max_rounds="7")
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert 'value="not a reference"' in text(response)
    assert 'value="7"' in text(response)
    many = operator.post("/pull-requests/", reference="acme/web#1", max_rounds="many")
    assert "Maximum rounds is a whole number from 1 to 100. You typed many." in text(many)


def sign_in(password, name="ops-1", **extra):
    return Client().post("/login/", {"username": name, "password": password, **extra})


@pytest.mark.usefixtures("world")
def test_a_right_password_leads_to_where_one_wanted_to_go():
    assert sign_in("correct horse battery", next="/tasks/")["Location"] == "/tasks/"
    assert sign_in("correct horse battery", next="https://evil.example/")["Location"] == "/"
    assert sign_in("correct horse battery", next="//evil.example/")["Location"] == "/"


@pytest.mark.usefixtures("world")
def test_five_wrong_passwords_pause_the_name_at_that_address():
    answers = [sign_in("wrong").status_code for _ in range(TRIES)]
    assert answers == [400] * (TRIES - 1) + [429]
    paused = sign_in("correct horse battery")
    assert paused.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "Try again in 14 min" in text(paused) or "Try again in 15 min" in text(paused)
    assert int(paused["Retry-After"]) > 800
    assert sign_in("correct horse battery", name="guest").status_code == HTTPStatus.SEE_OTHER


@pytest.mark.usefixtures("world")
def test_a_right_password_forgets_the_wrong_ones():
    for _ in range(TRIES - 1):
        sign_in("wrong")
    assert sign_in("correct horse battery").status_code == HTTPStatus.SEE_OTHER
    assert not SignInFailure.objects.exists()


def test_signing_out_ends_the_session(operator):
    assert operator.post("/logout/")["Location"].startswith("/login/")
    assert operator.get("/tasks/").status_code == HTTPStatus.SEE_OTHER


def test_a_theme_is_remembered_and_printed(operator):
    response = operator.post("/preferences/", theme="dark", back="/tasks/")
    assert response["Location"] == "/tasks/"
    assert '<html lang="en" class="theme-dark">' in text(operator.get("/tasks/"))
    assert User.objects.get(username="ops-1").preference.theme == "dark"
    assert operator.post("/preferences/", theme="neon", back="//evil.example")["Location"] == "/"


def test_there_is_one_door(world):
    assert Client().get("/admin/login/?next=/admin/")["Location"] == "/login/?next=/admin/"
    assert "admin.json" in text(Client().get("/login/"))
    sign_in("correct horse battery", name=world.operator.username)
    assert "admin.json" not in text(Client().get("/login/"))

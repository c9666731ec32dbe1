"""What convergence shows and what people do around it: findings, the gate, memory, undo, snooze, take, ask again."""

from http import HTTPStatus

import pytest

from convergence.models import ReviewerStatus
from runs.clock import now
from tests.db.console.test_acts import address, text

pytestmark = pytest.mark.django_db


def test_the_findings_show_their_trajectory_and_history(operator, world):
    shown = text(operator.get(f"{address(world.waiting)}?tab=findings"))
    assert "The limit should hold per host." in shown
    assert "round 1: new · round 3: reopened" in shown
    assert "round 1: new · round 2: closed (fixed)" in shown
    assert "reopened 1 time" in shown


def test_the_gate_shows_what_it_said_and_what_was_let_pass(operator, world):
    shown = text(operator.get(f"{address(world.waiting)}?tab=gate"))
    assert "1 suppressed comment" in shown
    assert "Scope unchecked" in shown
    assert "Open thread" in shown
    assert "PRRT_kw1" in shown
    assert "Ask again" in shown


def test_an_unchecked_scope_stands_beside_the_title(operator, world):
    """CV-S32."""
    assert "Scope unchecked" in text(operator.get(address(world.waiting)))


def test_a_reviewer_is_asked_again(operator, world):
    """CV-H12: the mark goes, and the page says so."""
    response = operator.post("/reviewers/probe/", pull=world.waiting.key, reviewer="copilot")
    assert response["Location"] == f"{address(world.waiting)}?tab=gate"
    assert ReviewerStatus.objects.get().unavailable_until is None
    assert "Ask again" not in text(operator.get(response["Location"]))


def test_a_remembered_answer_names_its_giver_and_can_be_undone(operator, world):
    """CV-H17, CV-S13."""
    task = world.remembered
    page = text(operator.get(f"/tasks/{task.pk}/"))
    assert "From memory: ops-2 gave it to" in page
    assert "Take this answer back" in page
    assert f"/tasks/{task.pk}/" in text(operator.get("/tasks/?tab=automatic"))
    response = operator.post(f"/tasks/{task.pk}/revert/", note="Changed our mind.")
    assert response.status_code == HTTPStatus.SEE_OTHER
    task.refresh_from_db()
    assert (task.state, task.reverted_by) == ("reverted", "operator:ops-1")
    page = text(operator.get(response["Location"]))
    assert "Changed our mind." in page
    assert "Take this answer back" not in page
    again = operator.post(f"/tasks/{task.pk}/revert/")
    assert again.status_code == HTTPStatus.CONFLICT
    assert "ops-1 has taken this answer back already" in text(again)


def test_a_question_is_taken_and_given_back(operator, world):
    operator.post(f"/tasks/{world.task.pk}/take/")
    assert "ops-1 is on it" in text(operator.get(f"/tasks/{world.task.pk}/"))
    operator.post(f"/tasks/{world.task.pk}/take/", back="yes")
    assert "Nobody has taken it" in text(operator.get(f"/tasks/{world.task.pk}/"))


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"hours": "72", "note": "Ben is back then."}, 303), ({"hours": "72"}, 400), ({"hours": "999", "note": "x"}, 400)],
)
def test_a_snooze_is_one_of_the_offered_times_and_says_why(operator, world, fields, status):
    """CV-S39."""
    response = operator.post(f"/tasks/{world.task.pk}/snooze/", **fields)
    world.task.refresh_from_db()
    assert response.status_code == status
    assert (world.task.snoozed_until is not None and world.task.snoozed_until > now()) is (status == 303)


def test_a_viewer_gets_no_form_and_no_act(viewer, world):
    page = text(viewer.get(f"/tasks/{world.remembered.pk}/"))
    assert "Take this answer back" not in page
    for verb in ("revert", "take", "snooze"):
        assert viewer.post(f"/tasks/{world.remembered.pk}/{verb}/").status_code == HTTPStatus.FORBIDDEN
    assert viewer.post("/reviewers/probe/", pull=world.waiting.key, reviewer="copilot").status_code == 403

"""Verbs of tasks and reviewers over the API."""

from datetime import timedelta

import pytest

from convergence.models import ReviewerStatus
from runs.clock import now
from tests.db.api.conftest import error

pytestmark = pytest.mark.django_db


def actor(program):
    return f"operator:{program.token.user.username}"


def test_an_answer_from_memory_is_taken_back_once(operator, world):
    """CV-H17, CV-S13: who, when and why stay readable."""
    path = f"/api/v1/tasks/{world.remembered.pk}"
    told = operator.post(f"{path}/revert", {"note": "Changed our mind."}).json()
    assert (told["state"], told["revertedBy"], told["answeredBy"]) == ("reverted", actor(operator), "operator:ops-2")
    assert error(operator.post(f"{path}/revert"), 409)["code"] == "already_reverted"
    assert error(operator.post(f"/api/v1/tasks/{world.task.pk}/revert"), 409)["code"] == "stale"
    assert error(operator.post("/api/v1/tasks/999999/revert"), 404)["code"] == "unknown_task"


def test_a_snooze_is_bounded(operator, world):
    """CV-S39."""
    path = f"/api/v1/tasks/{world.task.pk}/snooze"
    until = now() + timedelta(days=3)
    told = operator.post(path, {"until": until.isoformat(), "note": "Ben is back then."}).json()
    assert (told["state"], told["dueAt"] is not None, told["history"][0]["note"]) == ("open", True, "Ben is back then.")
    late = (now() + timedelta(days=8)).isoformat()
    assert error(operator.post(path, {"until": late, "note": "x"}), 400)["details"] == {"field": "until"}
    assert error(operator.post(path, {"until": until.isoformat(), "note": " "}), 400)["details"] == {"field": "note"}
    assert error(operator.post(path, {"until": "soon", "note": "x"}), 400)["code"] == "invalid_field"


def test_a_task_is_taken_and_given_back(operator, world):
    path = f"/api/v1/tasks/{world.task.pk}/take"
    assert operator.post(path).json()["takenBy"] == actor(operator)
    assert operator.post(path, {"back": True}).json()["takenBy"] is None


def test_a_refused_reviewer_is_asked_again(operator, world):
    body = {"repository": world.waiting.repository.full_name, "reviewer": "copilot"}
    told = operator.post("/api/v1/reviewers/probe", body).json()
    assert told["wasUnavailableUntil"] is not None
    assert ReviewerStatus.objects.get().unavailable_until is None
    assert operator.post("/api/v1/reviewers/probe", body).json()["wasUnavailableUntil"] is None
    unknown = operator.post("/api/v1/reviewers/probe", {**body, "reviewer": "nobody"})
    assert error(unknown, 404)["code"] == "unknown_reviewer"
    nowhere = operator.post("/api/v1/reviewers/probe", {**body, "repository": "acme/none"})
    assert error(nowhere, 404)["code"] == "unknown_repository"


def test_the_detail_tells_findings_waivers_scope_and_memory(operator, world):
    """CV-H22."""
    pull = operator.get(f"/api/v1/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}").json()
    assert pull["scope"]["result"] == "unchecked"
    first = pull["findings"][0]
    assert (first["kind"], first["isOpen"], first["reopened"]) == ("thread", True, 1)
    assert {each["target"] for each in pull["waivers"]} == {"PRRT_kw1"}
    assert pull["counters"]["ackRetries"] == {"now": 0, "max": 2}
    newest = pull["escalations"][0]
    assert (newest["autoApplied"], newest["answeredBy"], newest["revertedAt"]) == (True, "operator:ops-2", None)
    of_round = {each["number"]: each["findings"] for each in pull["rounds"]}
    assert of_round[1] == {"open": 2, "new": 2, "repeat": 0, "reopened": 0, "gone": 0}

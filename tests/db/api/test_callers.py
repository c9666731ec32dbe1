"""Who may call: tokens, sessions, CSRF and roles."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from factory_site.api import api
from runs.clock import now as clock_now
from runs.contract.errors import Invalid
from runs.models import ApiToken, HumanTask, Run, User
from runs.models.user import Role
from runs.people import token_issue, token_revoke
from tests.db.api.conftest import error, program
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

ROUTES = [
    "/api/v1/status",
    "/api/v1/pull-requests",
    "/api/v1/pull-requests/acme/web/1",
    "/api/v1/tasks",
    "/api/v1/tasks/1",
    "/api/v1/runs",
    "/api/v1/runs/run_1",
    "/api/v1/runs/run_1/trace",
    "/api/v1/runs/run_1/receipt",
    "/api/v1/workers",
    "/api/v1/pauses",
    "/api/v1/budgets",
]
VERBS: list[tuple[str, Any, str]] = [
    ("/api/v1/pull-requests", {"pullRequest": "acme/web#1"}, "Submitting a pull request"),
    ("/api/v1/pull-requests/acme/web/398/cancel", {}, "Cancelling a pull request"),
    ("/api/v1/pull-requests/acme/web/398/look", None, "Looking at a pull request"),
    ("/api/v1/pull-requests/acme/web/398/pass-lane", {"reason": "r"}, "Passing a lane"),
    ("/api/v1/pull-requests/acme/web/398/drop-dependency", {"key": "a/b#1", "reason": "r"}, "Dropping a dependency"),
    ("/api/v1/tasks/1/complete", {"variables": {}}, "Answering a task"),
    ("/api/v1/tasks/1/take", None, "Taking a task"),
    ("/api/v1/tasks/1/snooze", {"until": "2026-01-01T00:00:00Z", "note": "x"}, "Snoozing a task"),
    ("/api/v1/tasks/1/revert", None, "Taking an answer back"),
    ("/api/v1/reviewers/probe", {"repository": "a/b", "reviewer": "copilot"}, "Asking a reviewer again"),
    ("/api/v1/runs", {"agent": "log-reader", "input": {}}, "Starting a run"),
    ("/api/v1/runs/run_1/cancel", {}, "Cancelling a run"),
    ("/api/v1/runs/run_1/retry", {}, "Retrying a run"),
    ("/api/v1/runs/run_1/extend", {"seconds": 60}, "Extending a run"),
    ("/api/v1/workers/lab.1/drain", {}, "Draining a worker"),
    ("/api/v1/workers/lab.1/release", {"runId": "run_1"}, "Releasing a run"),
    ("/api/v1/outbox/1/requeue", None, "Queueing an outbox row again"),
    ("/api/v1/pauses", {"scope": "global", "reason": "r"}, "Pausing claims"),
    ("/api/v1/pauses/1/lift", None, "Lifting a pause"),
    ("/api/v1/budgets/raise", {"scope": "day", "usd": 1, "reason": "r"}, "Raising a budget"),
]
WILD = {"/acme/web/398": "/*/*/*", "/1": "/*", "/run_1": "/*", "/lab.1": "/*"}  # what stands for parameters in a path


@pytest.mark.parametrize("path", ROUTES)
def test_a_route_is_closed_without_a_token_and_open_with_a_viewers(viewer, path):
    assert error(Client().get(path), 401)["code"] == "unauthenticated"
    assert viewer.get(path).status_code in {200, 404}


@pytest.mark.parametrize("path", [path for path, *_ in VERBS])
def test_a_verb_without_a_token_is_answered_by_sign_in_and_not_by_csrf(path):
    assert error(Client(enforce_csrf_checks=True).post(path), 401)["code"] == "unauthenticated"


@pytest.mark.parametrize("header", ["Bearer fat_wrong", "Bearer ", "Bearer", "Basic YTpi", "fat_naked", "Bearer \xff"])
def test_a_wrong_token_is_401_also_beside_a_session(header):
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory.create(role=Role.ADMIN))
    for answer in (
        client.get("/api/v1/runs", headers={"Authorization": header}),
        client.post("/api/v1/runs/run_1/cancel", headers={"Authorization": header}),
    ):
        assert error(answer, 401)["code"] == "unauthenticated"


def test_an_expired_token_is_worth_nothing_and_one_that_ends_later_is():
    at = clock_now()
    late = program(Role.VIEWER, expires_at=at - timedelta(seconds=1))
    assert error(late.get("/api/v1/runs"), 401)["code"] == "unauthenticated"
    assert program(Role.VIEWER, expires_at=at + timedelta(hours=1)).get("/api/v1/runs").status_code == 200


def test_a_revoked_token_is_worth_nothing_from_the_next_request_on(operator):
    assert operator.get("/api/v1/runs").status_code == 200
    token_revoke(name=operator.token.name)
    assert error(operator.get("/api/v1/runs"), 401)["code"] == "unauthenticated"


def test_a_token_of_somebody_who_left_is_worth_nothing(operator):
    User.objects.filter(pk=operator.token.user_id).update(is_active=False)
    assert error(operator.get("/api/v1/runs"), 401)["code"] == "unauthenticated"


def test_a_token_is_stored_as_a_hash_alone(operator):
    row = ApiToken.objects.values().get(pk=operator.token.pk)
    assert operator.secret not in str(row)


@pytest.mark.parametrize(("path", "body", "doing"), VERBS)
def test_a_viewers_token_changes_nothing_and_names_the_role_it_takes(world, viewer, path, body, doing):
    """CO-H8: a viewer can change nothing of the product."""
    before = [list(model.objects.order_by("pk").values()) for model in (HumanTask, Run)]
    found = error(viewer.post(path.replace("/tasks/1/", f"/tasks/{world.task.pk}/"), body), 403)
    assert found["code"] == "role_required"
    assert found["message"] == f"{doing} needs the role operator. You are viewer."
    assert [list(model.objects.order_by("pk").values()) for model in (HumanTask, Run)] == before


def test_a_token_acts_with_its_own_role_and_never_above_its_persons():
    person = UserFactory.create(role=Role.OPERATOR)
    path = "/api/v1/runs/run_1/cancel"
    assert error(program(Role.VIEWER, person).post(path), 403)["code"] == "role_required"
    acting = program(Role.OPERATOR, person)
    assert error(acting.post(path), 404)["code"] == "unknown_run"
    User.objects.filter(pk=person.pk).update(role=Role.VIEWER)
    assert error(acting.post(path), 403)["code"] == "role_required"


def test_nobody_hands_out_a_role_above_their_own():
    person = UserFactory.create(role=Role.VIEWER)
    with pytest.raises(Exception, match="cannot hand out the role operator"):
        token_issue(name="more", user=person, role=Role.OPERATOR, created_by="test")
    assert not ApiToken.objects.exists()


def test_a_session_changes_something_only_with_the_csrf_token(world):
    """CO-H8: every POST needs sign-in, CSRF token and role."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.operator)
    path = f"/api/v1/tasks/{world.task.pk}/complete"
    body: dict[str, Any] = {"data": {"variables": {"answer": "per host"}}, "content_type": "application/json"}
    assert error(client.post(path, **body), 403)["code"] == "csrf_failed"
    assert HumanTask.objects.get(pk=world.task.pk).state == "open"
    client.get("/")
    token = client.cookies["csrftoken"].value
    answer = client.post(path, **body, headers={"X-CSRFToken": token})
    assert (answer.status_code, answer.json()["answeredBy"]) == (200, "operator:ops-1")


def test_a_signed_in_viewer_is_told_the_role(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.viewer)
    client.get("/")
    token = client.cookies["csrftoken"].value
    path, headers = "/api/v1/runs/run_1/cancel", {"X-CSRFToken": token}
    answer = client.post(path, content_type="application/json", headers=headers)
    assert error(answer, 403)["code"] == "role_required"
    assert error(client.post(path, {"reason": "a form"}, headers=headers), 400)["code"] == "malformed_json"


def test_a_session_ends_with_the_person_and_with_sign_out(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.viewer)
    assert client.get("/api/v1/runs").status_code == 200
    client.get("/")
    client.post("/logout/", {"csrfmiddlewaretoken": client.cookies["csrftoken"].value})
    assert error(client.get("/api/v1/runs"), 401)["code"] == "unauthenticated"
    client.force_login(world.viewer)
    User.objects.filter(pk=world.viewer.pk).update(is_active=False)
    assert error(client.get("/api/v1/runs"), 401)["code"] == "unauthenticated"


@pytest.mark.parametrize("name", ["", " ", "a b", "a\0", "x" * 81, "-rf", "a/b", "ünïcode", "line\nbreak"])
def test_a_token_needs_a_plain_name(name):
    with pytest.raises(Invalid, match="1 to 80 letters"):
        token_issue(name=name, user=UserFactory.create(), role=Role.VIEWER, created_by="test")
    assert not ApiToken.objects.exists()


def test_a_token_is_not_born_expired_and_its_name_is_taken_once(operator):
    person = operator.token.user
    with pytest.raises(Invalid, match="expired already"):
        token_issue(name="late", user=person, role=Role.VIEWER, created_by="test", expires_at=clock_now())
    with pytest.raises(Invalid, match="exists"):
        token_issue(name=operator.token.name, user=person, role=Role.VIEWER, created_by="test")
    assert ApiToken.objects.count() == 1


def test_every_verb_of_the_api_is_tried_with_a_viewers_token():
    """CO-H8: a new verb cannot be added without saying here that it takes a role."""
    described = {path for path, item in api.get_openapi_schema()["paths"].items() if set(item) - {"get"}}
    assert {re.sub(r"\{\w+\}", "*", path) for path in described} == {
        re.sub(r"/acme/web/398|/1(?=/)|/run_1|/lab\.1", lambda match: WILD[match[0]], path) for path, *_ in VERBS
    }


def test_every_route_but_health_is_closed_to_strangers():
    for path in api.get_openapi_schema()["paths"]:
        answer = Client().get(re.sub(r"\{\w+\}", "1", path))
        if path == "/health":
            assert answer.status_code == 200
        elif answer.status_code != 405:
            assert error(answer, 401)["code"] == "unauthenticated", path

"""Bodies and addresses that no program should send: one clear answer each, and nothing half done."""

import json

import pytest
from django.conf import settings
from django.test import Client

from convergence.models import PullRequest
from runs.models import HumanTask
from tests.db.api.conftest import error

pytestmark = pytest.mark.django_db

SUBMIT = "/api/v1/pull-requests"
MALFORMED = [
    b"{",
    b"nothing",
    b'{"pullRequest": "a/b#1",}',
    b'{"pullRequest": NaN}',
    b'{"pullRequest": "a/b#1", "pullRequest": "a/b#2"}',
    b'{"pullRequest": "\\ud800"}',
    b'{"pullRequest": "\xff"}',
    b'{"maxRounds": 1e999, "pullRequest": "a/b#1"}',
    b"[" * 100_000,
    b'{"maxRounds": ' + b"9" * 5_000 + b"}",
]
WRONG = [
    ({}, "pullRequest"),
    ({"pullRequest": 12}, "pullRequest"),
    ({"pullRequest": None}, "pullRequest"),
    ({"pullRequest": "a/b#" + "1" * 500}, "pullRequest"),
    ({"pullRequest": "a/b#1\0"}, "pullRequest"),
    ({"pullRequest": "a/b#1", "maxRounds": "7"}, "maxRounds"),
    ({"pullRequest": "a/b#1", "maxRounds": 1.5}, "maxRounds"),
    ({"pullRequest": "a/b#1", "maxRounds": True}, "maxRounds"),
    ({"pullRequest": "a/b#1", "autoMerge": "yes"}, "autoMerge"),
    ({"pullRequest": "a/b#1", "autoMerge": 1}, "autoMerge"),
    ({"pullRequest": "a/b#1", "dependsOn": "a/b#2"}, "dependsOn"),
    ({"pullRequest": "a/b#1", "dependsOn": [2]}, "dependsOn.0"),
    ({"pullRequest": "a/b#1", "pull_request": "a/b#1"}, "pull_request"),
    ({"pullRequest": "a/b#1", "colour": "red"}, "colour"),
    ([], "body"),
    ("a/b#1", "body"),
    (7, "body"),
    (None, "body"),
]


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_a_body_that_is_no_strict_json_is_malformed(operator, body):
    found = error(operator.post(SUBMIT, body), 400)
    assert found["code"] == "malformed_json"
    assert len(found["message"]) < 300
    assert not PullRequest.objects.exists()


@pytest.mark.parametrize(("body", "field"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_or_unknown_field_is_named(operator, body, field):
    found = error(operator.post(SUBMIT, body), 400)
    assert (found["code"], found["details"]["field"]) == ("invalid_field", field)
    assert found["message"].startswith(f"{field}: ")
    assert not PullRequest.objects.exists()


def test_a_huge_body_is_refused_before_it_is_parsed(operator, world):
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    path = f"/api/v1/tasks/{world.task.pk}/complete"
    body = json.dumps({"variables": {"answer": "x" * most}}).encode()
    found = error(operator.post(path, body), 413)
    assert (found["code"], found["details"]) == ("body_too_large", {"maxBytes": most})
    assert HumanTask.objects.get(pk=world.task.pk).state == "open"


def test_a_stranger_with_a_huge_body_is_a_stranger():
    body = b"x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    answer = Client().post(SUBMIT, data=body, content_type="application/json")
    assert error(answer, 401)["code"] == "unauthenticated"


def test_a_nul_deep_in_an_answer_is_named(operator, world):
    path = f"/api/v1/tasks/{world.task.pk}/complete"
    found = error(operator.post(path, {"variables": {"answer": "a\0b"}}), 400)
    assert (found["code"], found["details"]["field"]) == ("invalid_field", "variables.answer")
    assert HumanTask.objects.get(pk=world.task.pk).state == "open"


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/api/v2/runs", "/hooks/nothing", "/artifacts/abc/def", "/api/"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_unknown_path_of_programs_is_told_in_their_shape(path, method):
    assert error(getattr(Client(enforce_csrf_checks=True), method)(path), 404)["code"] == "not_found"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("delete", SUBMIT, {"GET", "POST"}),
        ("put", "/api/v1/runs", {"GET", "POST"}),
        ("post", "/api/v1/status", {"GET"}),
        ("get", "/api/v1/runs/run_1/cancel", {"POST"}),
        ("get", "/hooks/github", {"POST"}),
        ("post", "/hooks/abandon", {"GET"}),
        ("post", "/health", {"GET"}),
    ],
)
def test_a_wrong_method_names_those_that_the_path_takes(operator, method, path, allowed):
    answer = getattr(Client(), method)(path, headers=operator.header)
    found = error(answer, 405)
    assert set(answer.headers["Allow"].split(", ")) == set(found["details"]["allow"]) == allowed


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/runs/%00",
        "/api/v1/runs/%ff%fe",
        "/api/v1/runs/%ED%A0%80",
        "/api/v1/runs/" + "9" * 4000,
        "/api/v1/tasks/99999999999999999999999",
        "/api/v1/tasks/0",
        "/api/v1/tasks/-1",
        "/api/v1/pull-requests/a/b/99999999999999999999999",
        "/api/v1/pull-requests/a/b/-4",
        "/api/v1/pull-requests/%00/b/4",
        "/api/v1/pull-requests/a%0Ab/b/4",
    ],
)
def test_an_impossible_name_in_a_path_is_something_unknown(viewer, path):
    assert error(viewer.get(path), 404)["code"] in {"not_found", "unknown_run", "unknown_task", "unknown_pull_request"}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("limit=x", "limit"),
        ("limit=1.5", "limit"),
        ("before=%00", "before"),
        ("before=x", "before"),
        ("before=" + "A" * 99, "before"),
        ("before=%F0%9F%98%80", "before"),
        ("state=nowhere", "state"),
        ("state=%00", "state"),
        ("state=" + "s" * 500, "state"),
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/runs", "/api/v1/tasks", SUBMIT])
def test_a_wrong_query_names_its_field(viewer, path, query, field):
    found = error(viewer.get(f"{path}?{query}"), 400)
    assert (found["code"], found["details"]["field"]) == ("invalid_field", field)


@pytest.mark.parametrize("query", ["subject=%ff", "agent=%F0%9F%98%80", "subject=x%23y", "repository=%2F%2F%2F"])
def test_a_filter_that_nothing_fits_is_an_empty_list(viewer, query):
    assert viewer.get(f"/api/v1/runs?{query}").json() == {"items": [], "nextBefore": None}


@pytest.mark.parametrize("name", ["agent", "subject", "repository", "%00"])
def test_a_nul_in_any_filter_is_refused(viewer, name):
    assert error(viewer.get(f"/api/v1/runs?{name}=a%00b"), 400)["code"] == "invalid_field"


def test_another_host_is_refused_in_the_shape_of_programs_and_as_a_page_for_people(viewer):
    assert error(viewer.get("/api/v1/runs", Host="evil.example.org"), 400)["code"] == "invalid_field"
    page = Client().get("/", headers={"Host": "evil.example.org"})
    assert (page.status_code, page.headers["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert "cannot be read" in page.content.decode()

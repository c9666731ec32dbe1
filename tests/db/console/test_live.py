import re
from http import HTTPStatus

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.clock import now
from runs.humans.tasks import task_withdraw
from tests.browser.world import make_pull

FRAME = 'django_session|"runs_user"."password"|statement_timestamp'  # who asks, and what time it is

pytestmark = pytest.mark.django_db


def places(world):
    pull = f"/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}/"
    return [
        ("/", "live"),
        ("/tasks/", "task-table"),
        (f"/tasks/{world.task.pk}/", "state-line"),
        ("/pull-requests/", "pull-table"),
        (pull, "live"),
        (f"{pull}?tab=audit", "live"),
    ]


def without_clocks(html):
    return re.sub(
        r"<time.*?</time>|\b\d+ (?:min|s|h)(?: \d+ s)?\b|csrfmiddlewaretoken.*?>|\s+", "", html, flags=re.DOTALL
    )


def test_a_fragment_is_the_same_part_of_the_page(operator, world):
    """CO-H3: for the same rows a fragment equals the part of the page."""
    for path, target in places(world):
        page = operator.get(path).content.decode()
        part = operator.fragment(path, target).content.decode()
        assert f'id="{target}"' in part, path
        assert without_clocks(part) in without_clocks(page), path


def test_a_polled_part_holds_no_form(operator, world):
    """CO-H5: a swap never touches what a person is typing."""
    for path, target in places(world):
        part = operator.fragment(path, target).content.decode()
        assert "<form" not in part, path
        assert "<textarea" not in part, path


def test_what_has_not_changed_is_a_304_after_two_reads(operator, world):
    """CO-H4: beside the frame's reads (session and person) an unchanged part costs at most two."""
    for path, target in places(world):
        tag = operator.fragment(path, target)["ETag"]
        with CaptureQueriesContext(connection) as reads:
            again = operator.fragment(path, target, tag)
        assert (again.status_code, again.content) == (HTTPStatus.NOT_MODIFIED, b""), path
        own = [each["sql"] for each in reads if not re.search(FRAME, each["sql"])]
        assert len(own) <= 2, (path, own)


def test_what_has_changed_is_never_a_304(operator, world):
    """CO-H4: a change of any row in view is a new tag."""
    tags = {path: operator.fragment(path, target)["ETag"] for path, target in places(world)}
    task_withdraw(world.task, reason="it was merged", now=now())
    for path, target in places(world)[:3]:
        assert operator.fragment(path, target, tags[path]).status_code == HTTPStatus.OK, path
    make_pull(world.waiting.repository, 900, "A new one", "converging", now())
    assert operator.fragment("/pull-requests/", "pull-table", tags["/pull-requests/"]).status_code == HTTPStatus.OK
    flow = world.waiting.convergence_flows.get()
    type(flow).objects.filter(pk=flow.pk).update(last_look_at=now())
    path, target = places(world)[4]
    assert operator.fragment(path, target, tags[path]).status_code == HTTPStatus.OK


def test_an_ended_pull_request_polls_no_more(operator, world):
    """CO-H6: a page of something that has ended asks for nothing."""
    ended = f"/pull-requests/{world.merged.repository.full_name}/{world.merged.number}/"
    assert "data-live=" not in operator.get(ended).content.decode()
    assert operator.get("/pull-requests/").content.decode().count("data-live=") == 1
    assert "data-live=" not in operator.get("/pull-requests/?tab=done").content.decode()


def test_the_pulse_counts_what_is_open_and_rests_in_between(operator, world):
    first = operator.get("/pulse/")
    assert first.json()["counts"] == {"tasks": "2", "runs": "", "workers": "", "doctor": ""}
    assert operator.get("/pulse/", **{"If-None-Match": first["ETag"]}).status_code == HTTPStatus.NOT_MODIFIED
    task_withdraw(world.task, reason="it was merged", now=now())
    assert operator.get("/pulse/", **{"If-None-Match": first["ETag"]}).json()["title"] == "1"
    assert "X-Server-Time" in first


def test_polls_do_not_prolong_a_sign_in(operator):
    session = operator.client.session
    session["slid"] = 0
    session.save()
    operator.get("/pulse/")
    operator.fragment("/tasks/", "task-table")
    assert operator.client.session["slid"] == 0
    operator.get("/tasks/")
    assert operator.client.session["slid"] > 0

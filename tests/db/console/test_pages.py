import re
from http import HTTPStatus

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs.clock import now
from tests.browser.world import fill, make_flow, make_pull
from tests.site_policy import edited_policy
from workers.models import Pool

pytestmark = pytest.mark.django_db

FRAME_QUERIES = 5  # session, person, preferences, two of the pulse


def reads(captured):
    """Reads of rows; the time is asked of the database on PostgreSQL."""
    return [each["sql"][:120] for each in captured if "statement_timestamp" not in each["sql"]]


def pages(world):
    pull = f"/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}/"
    merged = f"/pull-requests/{world.merged.repository.full_name}/{world.merged.number}/"
    return [
        "/",
        "/tasks/",
        "/tasks/?tab=answered",
        f"/tasks/{world.task.pk}/",
        "/pull-requests/",
        "/pull-requests/?tab=done",
        pull,
        *[f"{pull}?tab={tab}" for tab in ("escalations", "merge", "runs", "audit")],
        merged,
        f"{merged}?tab=merge",
    ]


def text(response):
    return response.content.decode()


def test_every_page_answers_and_carries_the_policy(operator, world):
    """CO-H23: no script stands in a page, and the policy allows none."""
    for path in pages(world):
        response = operator.get(path)
        assert response.status_code == HTTPStatus.OK, path
        assert "default-src 'self'" in response["Content-Security-Policy"]
        assert response["Cache-Control"] == "private, no-cache"
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text(response)), path


def test_no_cell_of_a_table_is_empty_or_a_dash(operator, world):
    for path in pages(world):
        for cell in re.findall(r"<(?:td|dd)[^>]*>(.*?)</(?:td|dd)>", text(operator.get(path)), re.DOTALL):
            words = re.sub(r"<svg.*?</svg>|<[^>]+>", "", cell, flags=re.DOTALL).strip()
            assert (words and words not in {"-", "–", "None"}) or '<svg class="bar' in cell, (path, cell)


def test_a_viewer_sees_no_form_and_may_not_post(viewer, world):
    """CO-H8, CO-S27: a hand-made POST of a viewer answers 403 with the role that is needed."""
    pull = f"/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}/"
    for path in pages(world):
        actions = set(re.findall(r'<form[^>]*method="post"[^>]*action="([^"]+)"', text(viewer.get(path))))
        assert actions <= {"/logout/", "/preferences/"}, path
    for path in (f"/tasks/{world.task.pk}/complete/", "/pull-requests/", f"{pull}cancel/", f"{pull}look/"):
        response = viewer.post(path, reason="because", seen="1", reference="acme/web#1")
        assert response.status_code == HTTPStatus.FORBIDDEN
        assert "needs the role operator. You are viewer." in text(response)
    world.task.refresh_from_db()
    assert world.task.state == "open"


def test_a_post_without_the_token_changes_nothing(operator, world):
    """CO-H8: every POST needs a CSRF token."""
    response = operator.post(f"/tasks/{world.task.pk}/complete/", token=False, answer="x", seen=world.task.seen_hash)
    assert response.status_code == HTTPStatus.FORBIDDEN
    world.task.refresh_from_db()
    assert world.task.state == "open"


def test_whoever_is_not_signed_in_is_sent_to_the_door_and_comes_back(world):
    for path in pages(world):
        response = Client().get(path)
        assert response.status_code == HTTPStatus.SEE_OTHER
        assert response["Location"].startswith("/login/?next=%2F")


def test_a_poll_of_whoever_was_signed_out_is_a_bare_401():
    """CO-H30: a poll never gets a login page."""
    response = Client().get("/tasks/", headers={"HX-Request": "true", "HX-Target": "task-table"})
    assert (response.status_code, response.content) == (HTTPStatus.UNAUTHORIZED, b"")
    assert Client().get("/pulse/").status_code == HTTPStatus.UNAUTHORIZED


def test_an_old_filter_is_explained_and_the_list_still_stands(operator, world):
    response = operator.get("/pull-requests/?state=done")
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert "Unknown state “done”. Known: converging" in text(response)
    assert world.waiting.title in text(response)


def test_text_from_outside_is_inert(operator):
    """CO-H22, CO-S26: tags, direction marks and script addresses of a title stand as text."""
    shown = text(operator.get("/pull-requests/"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert '<span class="mark">U+202E</span>' in shown
    assert "\u202e" not in shown
    assert 'href="javascript' not in shown


def test_a_wrong_address_is_a_page_of_our_own(operator):
    response = operator.get("/nowhere/")
    assert response.status_code == HTTPStatus.NOT_FOUND
    assert "There is nothing at this address" in text(response)
    assert operator.get("/api/v1/nowhere").json()["error"]["code"] == "not_found"


def test_an_unknown_pull_request_is_named(operator):
    response = operator.get("/pull-requests/acme/web/9999/")
    assert response.status_code == HTTPStatus.NOT_FOUND
    assert "acme/web#9999" in text(response)


def test_the_queries_of_a_list_do_not_depend_on_its_rows(operator, world):
    """CO-H16: the list costs the same for few rows and for many."""
    operator.get("/pull-requests/")  # the first request slides the session on
    with CaptureQueriesContext(connection) as few:
        operator.get("/pull-requests/")
    for number in range(600, 640):
        pull = make_pull(world.waiting.repository, number, f"Change {number}", "converging", world.waiting.updated_at)
        make_flow(pull, "review_round", pull.updated_at)
    with CaptureQueriesContext(connection) as many:
        operator.get("/pull-requests/")
    assert len(few) == len(many)


@pytest.mark.parametrize(
    ("path", "most"), [("/", 12), ("/tasks/", 6), ("/tasks/{task}/", 9), ("/pull-requests/", 6), ("{pull}", 15)]
)
def test_a_page_stays_within_its_queries(operator, world, path, most):
    """CO-H16: the budget of each page, beside the frame's."""
    pull = f"/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}/"
    operator.get("/")
    with CaptureQueriesContext(connection) as made:
        operator.get(path.format(task=world.task.pk, pull=pull))
    assert len(reads(made)) <= FRAME_QUERIES + most, reads(made)


@pytest.mark.parametrize("tab", ["findings", "gate", "escalations", "merge", "runs", "audit"])
def test_a_tab_costs_at_most_ten_more(operator, world, tab):
    operator.get("/")
    with CaptureQueriesContext(connection) as made:
        operator.get(f"/pull-requests/{world.waiting.repository.full_name}/{world.waiting.number}/?tab={tab}")
    assert len(reads(made)) <= FRAME_QUERIES + 14 + 10


def test_older_rows_are_reached_by_position(operator, world):
    for number in range(700, 760):
        make_pull(world.waiting.repository, number, f"Change {number}", "converging", world.waiting.updated_at)
    first = text(operator.get("/pull-requests/"))
    older = re.search(r'href="([^"]+)" rel="next"', first)
    assert older is not None
    second = text(operator.get(older[1].replace("&amp;", "&")))
    seen = [set(re.findall(r'<tr id="pull-(\d+)"', page)) for page in (first, second)]
    assert (len(seen[0]), len(seen[1]), seen[0] & seen[1]) == (50, 15, set())


@pytest.mark.parametrize(
    "path", ["/", "/tasks/", "/pull-requests/", "/tasks/?tab=answered", "/pull-requests/?tab=done"]
)
def test_an_empty_install_says_why_there_is_nothing(path):
    from runs.models.user import Role
    from tests.browser.world import person
    from tests.db.console.conftest import Visitor

    response = Visitor(person("first", Role.OPERATOR)).get(path)
    assert response.status_code == HTTPStatus.OK
    if path == "/":
        assert "Three steps to the first pull request" in text(response)
    else:
        assert 'class="empty"' in text(response)


def test_the_three_steps_tick_themselves_off():
    """CO-S1: a fresh install shows its steps, and a worker that is alive ticks the second."""
    from datetime import timedelta

    from runs.models.user import Role
    from tests.browser.world import person
    from tests.db.console.conftest import Visitor
    from workers.models import Worker

    visitor = Visitor(person("first", Role.OPERATOR))
    assert "manage.py work" in text(visitor.get("/"))
    Worker.objects.create(worker_id="w", node="n", started_at=now(), last_seen_at=now() + timedelta(minutes=1))
    assert "At least one is alive." in text(visitor.fragment("/", "live"))
    fill()
    assert "Needs you" in text(visitor.get("/"))


def test_a_pull_request_that_was_only_reviewed_says_why_it_rests_and_what_a_person_may_do(operator, world):
    page = text(operator.get(f"/pull-requests/{world.waiting.repository.full_name}/403/"))
    assert "It was submitted for review only, so people merge it. Merge it on the forge, or resubmit it" in page
    assert '<input type="checkbox" name="auto_merge" value="on">' in page
    assert "Nothing is open; people merge it" in text(operator.get("/pull-requests/?tab=done"))


def test_the_demo_says_on_every_page_that_nothing_is_real(operator, settings):
    assert "nothing here is real" not in text(operator.get("/"))
    settings.FACTORY = settings.FACTORY.model_copy(update={"demo": True})
    assert "This is the demo: nothing here is real." in text(operator.get("/runs/"))
    assert operator.get("/pulse/").json()["banners"][-1]["tone"] == "idle"


def test_the_overview_holds_workers_and_spend_against_their_bounds(operator):
    """Bounds are those of the live pools; a change of them is a change of the page."""
    with edited_policy("budgets: {perDay: {usd: 120}}"):
        before = operator.fragment("/", "live")
        assert "of $120.00 spent today (UTC)" in text(before)
        assert ">$38.20</a>" in text(before)
        assert "pools keep" not in text(before)
        Pool.objects.create(node="lab", name="main", min=1, max=8, seen_at=now(), decided_at=now())
        after = operator.fragment("/", "live", before["ETag"])
        assert (after.status_code, "pools keep 1 to 8" in text(after)) == (HTTPStatus.OK, True)

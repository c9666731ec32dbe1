import re
from http import HTTPStatus

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from factory_site.console.frame import PAGES
from runs.models import Run, Spend
from runs.models.user import Role
from tests import queue_driver as queue
from tests.browser.fleet import add_entry
from tests.browser.world import person
from tests.db.console.conftest import Visitor
from tests.queue_driver import claim, worker
from workers.models import Pool, Worker

pytestmark = pytest.mark.django_db

RUN_TABS = ("", "?tab=result", "?tab=spec", "?tab=journal", "?tab=receipt", "?tab=placement")
FRAME_READS = ("session", "runs_user", "preference", "humantask")


def pages(fleet):
    runs = (
        fleet.running,
        fleet.failed,
        fleet.refused,
        fleet.completed,
        fleet.cancelled,
        fleet.unplaceable,
        fleet.again,
    )
    return [
        "/runs/",
        "/runs/?tab=failed",
        "/runs/?tab=all&agent=pr-review",
        *[f"/runs/{run.run_id}/{tab}" for run in runs for tab in RUN_TABS],
        f"/runs/{fleet.failed.run_id}/?only=errors",
        f"/runs/{fleet.failed.run_id}/?q=pytest",
        "/workers/",
        "/workers/?tab=gone",
        f"/workers/?explain={fleet.unplaceable.run_id}",
        f"/workers/{fleet.busy}/",
        f"/workers/{fleet.idle}/",
        f"/workers/{fleet.lost}/",
        "/agents/",
        "/agents/pr-review@1/",
        "/agents/pr-review/prompt/",
        *[f"/agents/pr-review@1/?tab={tab}" for tab in ("versions", "schemas", "runs")],
        "/doctor/",
        "/pauses/",
        "/budgets/",
    ]


def text(response):
    return response.content.decode()


def words(html):
    return " ".join(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", html, flags=re.DOTALL).split())


def test_every_page_answers_and_none_has_an_empty_cell(operator, viewer, fleet):
    """CO-H1, CO-H23: no script stands in a page, no cell is empty or a dash; a viewer reads all of it."""
    for path in pages(fleet):
        response = operator.get(path)
        assert response.status_code == HTTPStatus.OK, path
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|<[^>]*\s(?:style|on\w+)=", text(response)), path
        for cell in re.findall(r"<(?:td|dd)[^>]*>(.*?)</(?:td|dd)>", text(response), re.DOTALL):
            assert words(cell) not in {"", "-", "–", "None"}, (path, cell)
        assert viewer.get(path).status_code == HTTPStatus.OK, path


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.ADMIN])
def test_every_page_stands_on_an_empty_database(role):
    """CO-H1"""
    visitor = Visitor(person("first", role))
    for path in (
        *(page.address for page in PAGES),
        "/tasks/?tab=answered",
        "/tasks/?tab=automatic",
        "/pull-requests/?tab=done",
        "/runs/",
        "/runs/?tab=failed",
        "/runs/?tab=all",
        "/workers/",
        "/workers/?tab=gone",
        "/agents/",
        "/doctor/",
        "/pauses/",
        "/budgets/",
    ):
        assert visitor.get(path).status_code == HTTPStatus.OK, path
    for path in ("/runs/run_1/", "/workers/nobody/", "/agents/nobody/", "/runs/run_1/trace/"):
        assert visitor.get(path).status_code == HTTPStatus.NOT_FOUND, path


def test_a_run_whose_agent_was_killed_says_so_on_top(operator, fleet):
    attempt = fleet.failed.attempts.get()
    attempt.exit_code = None
    attempt.save()
    add_entry(attempt, 99, "lifecycle", {"note": "exit", "exitCode": None, "signal": 9})
    page = text(operator.get(f"/runs/{fleet.failed.run_id}/"))
    sentence = "The agent was ended by signal 9 (SIGKILL); it did not leave by itself."
    assert sentence in words(page[page.index('id="failure"') : page.index('id="run-facts"')])
    assert "code None" not in page


def test_a_failed_run_opens_with_its_first_error_and_its_log(operator, fleet):
    """CO-H27: the reason code with its sentence and next step, before everything else."""
    page = text(operator.get(f"/runs/{fleet.failed.run_id}/"))
    failure = page[page.index('id="failure"') : page.index('id="run-facts"')]
    said = words(failure)
    assert "The agent ended with an error. agent_exit" in said
    assert "First error: bash pytest tests/upload_test.py -q" in said
    assert "FAILED test_retries_twice" in said
    assert "not tried again" in said
    assert f'href="/artifacts/{fleet.log_sha256}"' in failure


def test_text_of_an_agent_is_inert(operator, fleet):
    """CO-H22: tags, colours of terminals and direction marks of a trace stand as text."""
    page = text(operator.get(f"/runs/{fleet.running.run_id}/"))
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert '<span class="mark">U+001B</span>' in page
    assert '<span class="mark">U+202E</span>' in page
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_a_trace_is_read_on_from_a_cursor_until_the_attempt_has_ended(operator, fleet):
    attempt = fleet.running.attempts.get()
    address = f"/runs/{fleet.running.run_id}/trace/?attempt=1&since=8"
    first = operator.get(address)
    assert (first["X-Trace-Last"], first["X-Trace-Ended"], words(text(first))) == ("8", "no", "")
    add_entry(attempt, 9, "assistant_text", {"text": "Now the second file."})
    second = operator.get(address)
    assert second["X-Trace-Last"] == "9"
    assert "Now the second file." in text(second)
    assert operator.get(f"/runs/{fleet.failed.run_id}/trace/?since=-1")["X-Trace-Ended"] == "yes"


def test_a_long_trace_shows_its_newest_part_and_leads_to_the_earlier_one(operator, fleet):
    attempt = fleet.running.attempts.get()
    for seq in range(9, 230):
        add_entry(attempt, seq, "assistant_text", {"text": f"step {seq}"})
    page = text(operator.get(f"/runs/{fleet.running.run_id}/"))
    assert page.count('<li class="entry') == 200
    earlier = re.search(r'href="([^"]+before=\d+)"', page)
    assert earlier is not None
    assert "The failing test imports" in text(operator.get(earlier[1].replace("&amp;", "&")))


def test_a_queued_run_says_what_each_worker_lacks_until_one_has_it(operator, fleet):
    """CO-S13: the second badge, the missing label and the nearest worker; a worker with the label clears both."""
    assert "No worker fits" in text(operator.get("/runs/"))
    path = f"/runs/{fleet.unplaceable.run_id}/?tab=placement"
    for address in (path, f"/workers/?explain={fleet.unplaceable.run_id}"):
        said = words(text(operator.get(address)))
        assert "No live worker can take this run: 2 lack label can=infra-exec." in said
        assert f"Nearest: {fleet.idle}, which lacks label can=infra-exec." in said
    other = Worker.objects.get(worker_id=fleet.idle)
    offer = {**other.offer, "labels": {"can": "infra-exec"}}
    other.pk, other.worker_id, other.offer = None, worker(0xABCDEF), offer
    other.save(force_insert=True)
    assert "No worker fits" not in text(operator.get("/runs/"))
    assert f"{other.worker_id} fits and is free." in words(text(operator.get(path)))


def test_a_pool_is_shown_with_its_supervisor_its_workers_and_its_last_decision(operator, fleet):
    page = text(operator.get("/workers/"))
    pools = words(page[page.index('id="pools-title"') : page.index("</table>")])
    assert "Live main node lab 2 of 1 to 2 1 busy, 1 idle, 1 lost holds: cooling down" in pools
    assert "5 workers in a row died at the start: work: host.yaml: colour is not a key" in pools
    assert "python3 manage.py supervise on build7.example.org" in pools
    offer = {**Worker.objects.get(worker_id=fleet.idle).offer, "labels": {"can": "infra-exec"}}
    Pool.objects.filter(node="lab").update(max=3, offer=offer)
    run = fleet.unplaceable
    said = words(text(operator.get(f"/workers/?explain={run.run_id}")))
    assert "The pool main@lab starts a worker for it." in said
    assert "may start one more" in said


def test_what_is_searched_for_in_a_trace_is_marked_and_stays_inert(operator, fleet):
    """CO-H22: a search for a tag marks its text and makes no tag of it."""
    page = text(operator.get(f"/runs/{fleet.failed.run_id}/?q=%3CIMG"))
    assert "<mark>&lt;img</mark> src=x" in page
    assert page.count('<li class="entry') == 1


def test_a_hash_that_no_longer_fits_is_said(operator, fleet):
    path = f"/runs/{fleet.completed.run_id}/?tab=receipt"
    assert "Differs" not in text(operator.get(path))
    Run.objects.filter(pk=fleet.completed.pk).update(spec_hash="sha256:" + "0" * 64)
    assert "Differs" in text(operator.get(path))
    assert "Hash chain broken" in text(operator.get(f"/runs/{fleet.completed.run_id}/?tab=journal"))


@pytest.mark.parametrize(("path", "most"), [("/runs/?tab=all", 12), ("/workers/", 8), ("/agents/", 8)])
def test_the_queries_of_a_list_do_not_depend_on_its_rows(operator, fleet, path, most):
    """CO-H16: few rows or many, the page costs the same."""
    operator.get(path)
    with CaptureQueriesContext(connection) as few:
        operator.get(path)
    run = Run.objects.get(pk=fleet.cancelled.pk)
    for number in range(30):
        run.pk = None
        run.run_id = f"run_{number:026d}"
        run.idempotency_key = f"copy-{number}"
        run.save(force_insert=True)
    with CaptureQueriesContext(connection) as many:
        operator.get(path)
    assert len(many) == len(few)
    own = [each["sql"] for each in few if not any(name in each["sql"] for name in (*FRAME_READS, CLOCK))]
    assert len(own) <= most, own


CLOCK = "statement_timestamp()"  # what time it is, asked of PostgreSQL: no read of a row


def test_what_has_not_changed_is_a_304_after_two_reads(operator, fleet):
    """CO-H4: beside the frame's reads an unchanged part costs two at most; a claim makes it a new one."""
    places = [("/runs/", "run-table"), (f"/runs/{fleet.running.run_id}/", "live"), ("/workers/", "live")]
    for path, target in places:
        tag = operator.fragment(path, target)["ETag"]
        with CaptureQueriesContext(connection) as reads:
            again = operator.fragment(path, target, tag)
        assert again.status_code == HTTPStatus.NOT_MODIFIED, path
        own = [
            each["sql"]
            for each in reads
            if not any(name in each["sql"] for name in ("session", 'FROM "runs_user" WHERE "runs_user"."id" = ', CLOCK))
        ]
        assert len(own) <= 2, own
    before = {path: operator.fragment(path, target)["ETag"] for path, target in places}
    Run.objects.filter(pk=fleet.again.pk).update(hold="", available_at=None)
    claim(fleet.idle)
    for path, target in (places[0], places[2]):
        assert operator.fragment(path, target, before[path]).status_code == HTTPStatus.OK, path


def test_a_fragment_is_the_same_part_of_the_page_and_holds_no_form(operator, fleet):
    """CO-H3, CO-H5: for the same rows they are equal; what is polled holds nothing that people type into."""
    for path, target in [
        ("/runs/", "run-table"),
        (f"/runs/{fleet.failed.run_id}/?tab=journal", "live"),
        (f"/workers/{fleet.busy}/", "live"),
        ("/doctor/", "live"),
    ]:
        part = text(operator.fragment(path, target))
        assert "<form" not in part, path
        clockless = re.compile(r"<time.*?</time>|\b[\d.]+ (?:min|s|h)\b|data-etag=\"[^\"]*\"|\s+", re.DOTALL)
        assert clockless.sub("", part) in clockless.sub("", text(operator.get(path))), path


def test_a_run_at_rest_polls_no_more(operator, fleet):
    """CO-H6: an ended run, its trace, and a tab of ended runs ask for nothing."""
    for path in (f"/runs/{fleet.failed.run_id}/", "/runs/?tab=failed", "/workers/?tab=gone"):
        page = text(operator.get(path))
        assert "data-live=" not in page, path
        assert "data-source=" not in page, path
    live = text(operator.get(f"/runs/{fleet.running.run_id}/"))
    assert live.count("data-live=") == live.count("data-source=") == 1


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("worker={idle}&reason=agent_exit", "failed"),
        ("cause=agent_error", "failed"),
        ("adapter=command&state=running", "running"),
        ("reason=operator_cancel", "cancelled"),
    ],
)
def test_runs_are_narrowed_by_worker_reason_cause_and_adapter(operator, fleet, query, name):
    page = text(operator.get(f"/runs/?tab=all&{query.format(idle=fleet.idle)}"))
    assert re.findall(r'href="/runs/(run_\w+)/"', page) == [getattr(fleet, name).run_id]


def test_a_cause_that_no_failure_has_is_named_and_the_list_stands_unfiltered(operator, fleet):
    answer = operator.get("/runs/?cause=bad-luck")
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert "Unknown cause “bad-luck”. Known: environment, agent_error, fatal." in text(answer)
    assert fleet.running.run_id in text(answer)


def completed():
    """One run of the review agent that went well."""
    queue.enqueue()
    attempt = claim()
    queue.beat(attempt, "running", 1)
    queue.publish(attempt, queue.completed_body(attempt))


def test_a_figure_names_its_window_and_too_few_cases_give_no_median(operator):
    """CO-H19: unknown is never zero."""
    Spend.objects.all().delete()
    overview = words(text(operator.get("/")))
    for named in ("Last 24 h", "in the 24 h before", "spent today (UTC) not reported"):
        assert named in overview
    queue.load_definitions()
    for _ in range(4):
        completed()
    assert "too few (4)" in text(operator.get("/agents/pr-review@1/?tab=runs")) + text(operator.get("/agents/"))
    completed()
    listed = text(operator.get("/agents/"))
    assert "Runs in 7 days" in listed
    assert "too few (5)" not in listed

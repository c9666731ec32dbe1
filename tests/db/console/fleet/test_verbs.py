"""Retry, extend, release and deliver again, from the pages: each once, for a reason, to what was on screen."""

from datetime import timedelta
from http import HTTPStatus

import pytest

from runs.clock import now
from runs.flow import RunState
from runs.models import Attempt, JournalRow, Outbox, Run
from tests.browser.fleet import Fleet
from tests.db.console.fleet.test_limits import words
from tests.queue_driver import claim, failed_body, publish, worker
from tests.site_agents import load_reader, started

pytestmark = pytest.mark.django_db


@pytest.fixture
def failed(fleet, tmp_path):
    """A run of a reader whose agent may not try any more."""
    assert isinstance(fleet, Fleet)
    load_reader(tmp_path)
    run = started(subject="host:build-7")
    while run.state != RunState.FAILED:
        Run.objects.filter(pk=run.pk, hold="backoff").update(hold="", available_at=None)
        attempt = claim(worker(0xABCDE))
        publish(attempt, failed_body(attempt))
        run.refresh_from_db()
    return run


def last_row(run):
    return JournalRow.objects.filter(run=run).order_by("-seq").first()


def page(response):
    return response.content.decode()


def test_a_failed_run_is_retried_beyond_its_budget_when_its_subject_is_typed(operator, failed):
    """CO-H14: without the typed subject, and without a reason, nothing changes."""
    address = f"/runs/{failed.run_id}/"
    shown = page(operator.get(address))
    assert "Beyond its budget, since its agent failed 2 of 2 times: type host:build-7" in shown
    form = {"reason": "the schema is mended", "seen": "2"}
    for changes, status, told in (
        ({}, HTTPStatus.CONFLICT, "attempts_exhausted"),
        ({"confirm": "host:build-8"}, HTTPStatus.BAD_REQUEST, "Type host:build-7 to confirm; you typed host:build-8."),
        ({"confirm": "host:build-7", "reason": " "}, HTTPStatus.BAD_REQUEST, "reason_required"),
        ({"confirm": "host:build-7", "seen": "1"}, HTTPStatus.CONFLICT, "The run is at attempt 2 by now."),
    ):
        answer = operator.post(f"{address}retry/", **{**form, **changes})
        assert (answer.status_code, told in page(answer)) == (status, True), changes
        assert Run.objects.get(pk=failed.pk).state == RunState.FAILED
    assert 'value="the schema is mended"' in page(operator.post(f"{address}retry/", **form))
    assert operator.post(f"{address}retry/", **form, confirm="host:build-7").status_code == HTTPStatus.SEE_OTHER
    row = last_row(failed)
    assert (row.reason_code, row.actor, row.detail["reason"]) == (
        "operator_retry_forced",
        "operator:ops-1",
        "the schema is mended",
    )


def test_a_run_that_nobody_waits_for_offers_no_retry(operator, fleet):
    assert f'action="/runs/{fleet.failed.run_id}/retry/"' not in page(operator.get(f"/runs/{fleet.failed.run_id}/"))


def test_a_running_agent_is_given_more_time_and_both_instants_are_shown(operator, fleet):
    address = f"/runs/{fleet.running.run_id}/"
    before = fleet.running.attempts.get()
    assert operator.post(f"{address}extend/", seconds="900", reason="nearly done", seen="1").status_code == (
        HTTPStatus.SEE_OTHER
    )
    after = fleet.running.attempts.get()
    assert (after.agent_deadline_at - before.agent_deadline_at).total_seconds() == 900
    assert last_row(fleet.running).detail["reason"] == "nearly done"
    shown = page(operator.get(address))
    assert "Run extended. Its agent has until" in shown
    assert "extended by 15 min" in shown


@pytest.mark.parametrize(
    ("changes", "status", "told"),
    [
        ({"seconds": "0"}, HTTPStatus.BAD_REQUEST, "from 1 to 3600, not 0"),
        ({"seconds": "a lot"}, HTTPStatus.BAD_REQUEST, "a lot"),
        ({"reason": ""}, HTTPStatus.BAD_REQUEST, "Say why"),
        ({"seen": "0"}, HTTPStatus.CONFLICT, "The run is at attempt 1 by now."),
    ],
)
def test_an_extension_that_is_refused_keeps_what_was_typed(operator, fleet, changes, status, told):
    """CO-H10: the page shows the run as it is, one sentence, and the form again."""
    form = {"seconds": "1800", "reason": "nearly done", "seen": "1", **changes}
    answer = operator.post(f"/runs/{fleet.running.run_id}/extend/", **form)
    assert answer.status_code == status
    assert told in page(answer)
    assert f'value="{form["seconds"]}"' in page(answer)
    assert not JournalRow.objects.filter(kind="extension").exists()


def test_an_extension_beyond_the_limit_takes_the_typed_subject(operator, fleet, world):
    address = f"/runs/{fleet.running.run_id}/extend/"
    form = {"seconds": "3600", "reason": "a long build", "seen": "1"}
    Attempt.objects.filter(run=fleet.running).update(deadline_at=now() + timedelta(minutes=175))
    assert "run_limit_exceeded" in page(operator.post(address, **form))
    assert operator.post(address, **form, confirm=world.waiting.key).status_code == HTTPStatus.SEE_OTHER
    assert last_row(fleet.running).detail["override"] is True


def test_a_silent_workers_run_is_released_and_a_live_ones_takes_its_id(operator, fleet):
    """CO-H14: a worker that is heard of gives its run back when its id was typed."""
    address = f"/workers/{fleet.busy}/"
    form = {"seen": fleet.running.run_id, "reason": "its machine hangs"}
    assert f"The worker was heard of: type {fleet.busy}" in page(operator.get(address))
    answer = operator.post(f"{address}release/", **form)
    assert (answer.status_code, "worker_alive" in page(answer)) == (HTTPStatus.CONFLICT, True)
    Attempt.objects.filter(run=fleet.running).update(heartbeat_due_at=now() - timedelta(seconds=1))
    assert "The worker was heard of" not in page(operator.get(address))
    answer = operator.post(f"{address}release/", **form)
    assert (answer.status_code, answer["Location"]) == (HTTPStatus.SEE_OTHER, f"/runs/{fleet.running.run_id}/")
    fail = JournalRow.objects.get(run=fleet.running, edge="fail")
    assert (fail.reason_code, fail.detail["reason"]) == ("released_by_operator", "its machine hangs")
    again = operator.post(f"{address}release/", **form, confirm=fleet.busy)
    assert (again.status_code, "not_held" in page(again)) == (HTTPStatus.CONFLICT, True)


def test_a_worker_is_asked_to_leave_for_a_reason_and_let_stay(operator, fleet):
    address = f"/workers/{fleet.busy}/"
    refused = operator.post(f"{address}drain/")
    assert (refused.status_code, "Say why" in page(refused)) == (HTTPStatus.BAD_REQUEST, True)
    sent = operator.post(f"{address}drain/", reason="new disk")
    assert (sent.status_code, sent["Location"]) == (HTTPStatus.SEE_OTHER, address)
    shown = words(operator.get(address))
    assert "ops-1 asked it to leave" in shown
    assert "“new disk”" in shown
    assert "leaves after this run" in words(operator.get("/workers/"))
    assert operator.post(f"{address}drain/", back="1").status_code == HTTPStatus.SEE_OTHER
    assert "asked it to leave" not in words(operator.get(address))


@pytest.mark.usefixtures("fleet")
def test_a_delivery_that_was_given_up_is_delivered_again(operator):
    row = Outbox.objects.get(dead_at__isnull=False)
    address = f"/outbox/{row.pk}/requeue/"
    assert f'action="{address}"' in page(operator.get("/doctor/"))
    assert operator.post(address).status_code == HTTPStatus.SEE_OTHER
    row.refresh_from_db()
    assert (row.dead_at, row.requeued_by) == (None, "operator:ops-1")
    assert operator.post(address).status_code == HTTPStatus.CONFLICT


def test_a_viewer_sees_no_form_of_them(viewer, fleet, failed):
    """CO-H8: none is rendered, and a hand-made one is refused."""
    row = Outbox.objects.get(dead_at__isnull=False)
    for at, path, doing in (
        (f"/runs/{failed.run_id}/", f"/runs/{failed.run_id}/retry/", "Retrying a run"),
        (f"/runs/{fleet.running.run_id}/", f"/runs/{fleet.running.run_id}/extend/", "Extending a run"),
        (f"/workers/{fleet.busy}/", f"/workers/{fleet.busy}/drain/", "Draining a worker"),
        (f"/workers/{fleet.busy}/", f"/workers/{fleet.busy}/release/", "Releasing a run"),
        ("/doctor/", f"/outbox/{row.pk}/requeue/", "Queueing an outbox row again"),
    ):
        assert f'action="{path}"' not in page(viewer.get(at))
        refused = viewer.post(path, reason="because", seen="1", seconds="60")
        assert refused.status_code == HTTPStatus.FORBIDDEN
        assert f"{doing} needs the role operator." in page(refused)

import io
import uuid
from http import HTTPStatus

import pytest
from django.core.management import call_command

from runs.flow import RunState
from runs.models import JournalRow, Run

pytestmark = pytest.mark.django_db


def last_row(run):
    return JournalRow.objects.filter(run=run).order_by("-seq").first()


def state_of(run):
    return Run.objects.get(pk=run.pk).state


def test_a_run_is_cancelled_with_its_reason_in_the_journal(operator, fleet):
    """CO-H15: who, when and why stand in the journal and on the page."""
    response = operator.post(f"/runs/{fleet.running.run_id}/cancel/", reason="wrong branch", seen="1")
    assert response.status_code == HTTPStatus.SEE_OTHER
    row = last_row(fleet.running)
    assert (row.to_state, row.actor, row.detail["reason"]) == ("cancelled", "operator:ops-1", "wrong branch")
    assert "wrong branch" in operator.get(f"/runs/{fleet.running.run_id}/?tab=journal").content.decode()


def test_the_same_form_cancels_once(operator, fleet):
    """CO-H9: a second send of the same form answers as the first and writes nothing."""
    form = {"reason": "wrong branch", "seen": "1", "submission": str(uuid.uuid4())}
    first = operator.post(f"/runs/{fleet.running.run_id}/cancel/", **form)
    rows = JournalRow.objects.count()
    second = operator.post(f"/runs/{fleet.running.run_id}/cancel/", **form)
    assert (first.status_code, second.status_code) == (HTTPStatus.SEE_OTHER, HTTPStatus.SEE_OTHER)
    assert JournalRow.objects.count() == rows


def test_a_cancel_of_another_attempt_than_was_shown_changes_nothing(operator, fleet):
    """CO-H10: an outdated screen is refused with the present state, and what was typed stays."""
    response = operator.post(f"/runs/{fleet.running.run_id}/cancel/", reason="too slow", seen="0")
    assert response.status_code == HTTPStatus.CONFLICT
    page = response.content.decode()
    assert "The run is at attempt 1 by now. Nothing was cancelled." in page
    assert 'value="too slow"' in page
    assert state_of(fleet.running) == RunState.RUNNING


def test_a_cancel_needs_a_reason(operator, fleet):
    """CO-H14: without its reason nothing changes."""
    response = operator.post(f"/runs/{fleet.running.run_id}/cancel/", reason="  ", seen="1")
    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert state_of(fleet.running) == RunState.RUNNING


def test_a_run_that_was_cancelled_elsewhere_says_so(operator, fleet):
    """CO-S11: the next poll shows it, and pressing Cancel answers that it is done already."""
    address = f"/runs/{fleet.running.run_id}/"
    tag = operator.fragment(address, "live")["ETag"]
    call_command("runs", "cancel", fleet.running.run_id, "--reason", "too slow", stdout=io.StringIO())
    poll = operator.fragment(address, "live", tag)
    assert poll.status_code == HTTPStatus.OK
    assert "Cancelled" in poll.content.decode()
    response = operator.post(f"{address}cancel/", reason="again", seen="1")
    assert response.status_code == HTTPStatus.CONFLICT
    assert "Already cancelled: A person cancelled it. Nothing was changed." in response.content.decode()


def test_a_viewer_reads_runs_and_stops_none(viewer, fleet):
    """CO-H8: no form is rendered, and a hand-made one is refused."""
    address = f"/runs/{fleet.running.run_id}/"
    assert f'action="{address}cancel/"' not in viewer.get(address).content.decode()
    response = viewer.post(f"{address}cancel/", reason="because", seen="1")
    assert response.status_code == HTTPStatus.FORBIDDEN
    assert "Cancelling a run needs the role operator." in response.content.decode()
    assert state_of(fleet.running) == RunState.RUNNING

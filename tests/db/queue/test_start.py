"""Runs that a person starts."""

from typing import Any

import pytest

from runs.contract.errors import Invalid, Refused
from runs.models import JournalRow, Run
from runs.queue.operating.start import run_start
from tests.queue_driver import claim, publish, variables
from tests.site_agents import load_reader, read_body, started


@pytest.fixture
def site(tmp_path):
    load_reader(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("site")
def test_an_agent_that_only_reads_is_started_and_executed():
    run = started(subject="acme/shop#12")
    assert (run.state, run.origin_kind, run.agent_ref, run.subject_label) == (
        "queued",
        "operator",
        "log-reader@1",
        "acme/shop#12",
    )
    assert (run.max_attempts, run.result_policy, run.flow_type, run.flow_entry) == (2, "strict", "", None)
    row = JournalRow.objects.get(run=run)
    assert (row.actor, row.reason_code) == ("operator:ann", "operator_start")
    attempt = claim()
    publish(attempt, read_body(attempt))
    run.refresh_from_db()
    assert run.state == "completed"


@pytest.mark.usefixtures("site")
def test_without_a_key_every_request_is_a_run_of_its_own_about_itself():
    first, second = started(), started(agent="log-reader")
    assert first.pk != second.pk
    assert first.subject == first.idempotency_key != second.subject
    assert first.subject_label == "log-reader@1"


def test_the_same_key_starts_once_also_after_the_agent_has_changed(site):
    """RU-H9: what was asked decides, not what is current by now."""
    asked: dict[str, Any] = {"agent": "log-reader", "variables": {"log": "boom"}, "actor": "operator:ann", "key": "one"}
    first = run_start(**asked)
    load_reader(site, title="Another title")
    again = run_start(**asked)
    assert (first.created, again.created, again.run) == (True, False, first.run)
    for other in ({"variables": {"log": "bang"}}, {"subject": "acme/shop#1"}, {"agent": "pr-review"}):
        with pytest.raises(Refused) as told:
            run_start(**{**asked, **other})
        assert told.value.code == "idempotency_conflict"
    assert Run.objects.count() == 1


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"agent": "nobody@1"}, "unknown_definition"),
        ({"agent": "log-reader@2"}, "unknown_definition"),
        ({"variables": {"log": 7}}, "invalid_input"),
        ({"variables": ["log"]}, "invalid_input"),
        ({"variables": {"log": "x" * 300_000}}, "too_large"),
        ({"subject": "x" * 201}, "invalid_field"),
        ({"key": "two words"}, "invalid_field"),
        ({"agent": "pr-review", "variables": variables()}, "proposal_required"),
    ],
)
def test_what_may_not_be_started_is_refused_before_the_first_write(changes, code):
    with pytest.raises((Invalid, Refused)) as told:
        started(**changes)
    assert told.value.code == code
    assert not Run.objects.exists()


def test_an_agent_that_changes_something_needs_a_proposal(tmp_path):
    load_reader(tmp_path, mutating=True, workspace={"kind": "worktree"})
    with pytest.raises(Refused) as told:
        started()
    assert (told.value.code, told.value.message) == (
        "proposal_required",
        "log-reader@1 changes something outside its workspace, so it is not started directly",
    )

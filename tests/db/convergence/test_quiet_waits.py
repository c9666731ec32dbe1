"""A wait in which nothing happened is over in one statement; whatever could matter is looked at in full."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from convergence.looks.look import convergence_look
from convergence.models import ConvergenceFlow, ForgeSnapshot
from convergence.wakeups import subjects_wake
from runs.clock import now
from runs.flows.looks import LOOK_CLAIM
from tests.db.convergence.many import asked_already, many_waiting


@pytest.fixture
def waits(stage):
    """Twenty pull requests that wait, each looked at twice, so that the second look knew the first."""
    pulls = many_waiting(stage.sim, repositories=2, each=10)
    asked_already(pulls)
    looked()
    looked()
    return stage, pulls


def looked():
    """One pass at every row when it is due, without waiting for that; return how many queries it took."""
    rows = list(ConvergenceFlow.rows().filter(due_at__isnull=False))
    until = now() + LOOK_CLAIM
    ConvergenceFlow.rows().filter(due_at__isnull=False).update(due_at=until)
    for row in rows:
        row.was_due, row.due_at = row.due_at, until
    with CaptureQueriesContext(connection) as asked:
        convergence_look(rows)
    return len(asked)


@pytest.mark.usefixtures("waits")
def test_twenty_rows_in_which_nothing_happened_cost_a_handful_of_queries():
    before = ForgeSnapshot.objects.order_by("observed_at").first()
    assert looked() <= 12
    rows = ConvergenceFlow.rows().all()
    assert all(40 <= (row.due_at - now()).total_seconds() <= 70 for row in rows if row.due_at)
    assert all(row.last_look_at and now() - row.last_look_at < timedelta(seconds=20) for row in rows)
    after = ForgeSnapshot.objects.order_by("observed_at").first()
    assert before is not None
    assert after is not None
    assert after.observed_at > before.observed_at, "pages say when it was read last"


def test_a_row_that_was_woken_is_looked_at_in_full(waits):
    _, pulls = waits
    quiet = looked()
    subjects_wake([pulls[3].subject], at_once=False)
    assert quiet < looked() <= quiet + 25


def test_a_review_is_seen_by_the_look_that_reads_it(waits):
    stage, _ = waits
    pull = next(iter(stage.sim.world.find_repository("acme/many-0").pulls.values()))
    stage.sim.verbs.review(pull, "copilot-pull-request-reviewer", threads=[{"path": "x", "line": 1, "text": "Why?"}])
    looked()
    row = ConvergenceFlow.rows().get(pull__repository__name="many-0", pull__number=pull.number)
    assert row.state != "await_review"


def test_the_end_of_a_wait_is_not_slept_through(stage):
    """The timer was known when the row was left quiet: the look after it is a full one."""
    asked_already(many_waiting(stage.sim, repositories=1, each=2))
    ConvergenceFlow.rows().update(timer_at=now() + timedelta(seconds=1))
    begun = now()
    while ConvergenceFlow.rows().filter(state="await_review").exists() and now() - begun < timedelta(seconds=20):
        looked()
    assert set(ConvergenceFlow.rows().values_list("state", flat=True)) == {"await_answer"}

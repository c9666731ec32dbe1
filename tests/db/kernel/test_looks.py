"""Looks: taken once, never losing a wake-up, and backing off alone."""

from datetime import timedelta

import pytest
from django.db import connection, transaction

from convergence.flow import CONVERGENCE_MACHINE
from convergence.models import ConvergenceFlow, PullRequest, Repository
from runs.clock import now
from runs.contract.errors import Refused, Transient
from runs.flows import looks
from runs.flows.move import Effect, Move, flow_move, flow_start
from runs.flows.registry import flow_type
from runs.models import Outbox, TransitionLog

pytestmark = pytest.mark.django_db


@pytest.fixture
def row():
    at = now()
    repository = Repository.objects.create(forge_id=7, owner="acme", name="shop", created_at=at)
    pull = PullRequest.objects.create(
        repository=repository, number=1, title="Total", state="converging", created_at=at, updated_at=at, root="r"
    )
    row, _ = flow_start(
        ConvergenceFlow,
        CONVERGENCE_MACHINE.edge("submitted"),
        subject=pull.subject,
        generation=1,
        actor="operator:ann",
        now=at,
        pull=pull,
        max_rounds=20,
    )
    return row


def move(row, edge="closed_elsewhere", **fields):
    with transaction.atomic():
        return flow_move(row, Move(CONVERGENCE_MACHINE.edge(edge), **fields), actor="poller", now=now())


def test_an_edge_writes_state_version_log_and_effects_together(row):
    log = move(row, "entry_captured", effects=[Effect("reply", {"n": 1}), Effect("reply", {"n": 2})])
    kept = ConvergenceFlow.objects.get()
    assert (kept.state, kept.version, kept.entry_log) == ("review_round", 1, log.pk)
    assert list(Outbox.objects.order_by("id").values_list("key", flat=True)) == [
        f"convergence:1:{log.pk}:0",
        f"convergence:1:{log.pk}:1",
    ]


def test_a_row_that_somebody_else_moved_is_not_moved_again_and_leaves_no_trace(row):
    """The loser of a race writes neither state nor log nor effect."""
    stale = ConvergenceFlow.objects.get()
    move(row, "entry_captured")
    before = TransitionLog.objects.count()
    with pytest.raises(Refused) as caught:
        move(stale, "closed_elsewhere", effects=[Effect("reply")])
    assert caught.value.code == "moved_on"
    assert (TransitionLog.objects.count(), Outbox.objects.count()) == (before, 0)


def test_a_row_that_came_back_to_its_state_meanwhile_is_not_moved_by_what_was_read_before(row):
    """The version decides, for the state alone would not tell."""
    stale = ConvergenceFlow.objects.get()
    ConvergenceFlow.objects.update(version=stale.version + 2)
    with pytest.raises(Refused) as caught:
        move(stale, "entry_captured")
    assert caught.value.code == "moved_on"
    assert ConvergenceFlow.objects.get().state == row.state


def test_an_edge_that_does_not_leave_the_state_is_refused(row):
    with pytest.raises(Refused) as caught:
        move(row, "answered")
    assert caught.value.code == "illegal_edge"


def test_a_terminal_row_is_due_no_more(row):
    move(row)
    kept = ConvergenceFlow.objects.get()
    assert kept.due_at is None
    assert kept.ended_at is not None
    assert looks.flow_wake("convergence", pk=kept.pk) == 0


def test_two_passes_that_saw_a_due_row_take_it_once(row):
    """CV-S40: the second pass finds the due date moved and takes nothing."""
    flow = flow_type("convergence")
    first, second = looks._claim_due(flow, now()), looks._claim_due(flow, now())
    assert ([each.pk for each in first], second) == ([row.pk], [])


def test_a_wake_up_during_a_look_is_not_lost(row):
    [taken] = looks._claim_due(flow_type("convergence"), now())
    assert looks.flow_wake("convergence", pk=row.pk) == 1
    assert looks.look_done(taken, due_at=now() + timedelta(minutes=5), now=now()) is False
    assert ConvergenceFlow.objects.filter(due_at__lte=now()).exists()


@pytest.mark.usefixtures("row")
def test_a_look_that_found_nothing_writes_only_when_it_was_and_when_the_next_is():
    """CV-H7: no edge, no effect, no row."""
    [taken] = looks._claim_due(flow_type("convergence"), now())
    before = TransitionLog.objects.count()
    assert looks.look_done(taken, due_at=now() + timedelta(minutes=5), now=now()) is True
    kept = ConvergenceFlow.objects.get()
    assert (kept.version, TransitionLog.objects.count(), Outbox.objects.count()) == (0, before, 0)
    assert ConvergenceFlow.objects.filter(due_at__gt=now() + timedelta(minutes=4)).exists()


@pytest.mark.parametrize(
    ("error", "failures", "seconds"),
    [
        (RuntimeError("boom"), 0, 60),
        (RuntimeError("boom"), 3, 480),
        (RuntimeError("boom"), 9, 900),
        (Transient("forge_unavailable", "away", retry_after=5), 0, 5),
    ],
)
def test_a_failing_look_is_pushed_out_and_says_why(row, error, failures, seconds):
    """CV-S41: 60 s doubling to 15 min, or what the forge asks for."""
    ConvergenceFlow.objects.update(look_failures=failures)
    pause, began = timedelta(seconds=seconds), now()
    looks.look_failed(row, error)
    kept = ConvergenceFlow.objects.get()
    assert kept.due_at is not None
    assert began + pause <= kept.due_at <= now() + pause
    assert kept.look_failures == failures + 1
    assert kept.last_look_error.endswith(str(error))


@pytest.mark.usefixtures("row")
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the planner of PostgreSQL reads a table of one row whole")
def test_due_rows_are_found_by_index():
    query, parameters = ConvergenceFlow.objects.due(now())[:50].query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query}", parameters)
        assert "convergence_due" in str(cursor.fetchall())

"""The pass over due flows: a look that fails backs off alone, a wake is never lost, no flow type starves another."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import transaction

from convergence.flow import CONVERGENCE_MACHINE
from convergence.models import ConvergenceFlow
from runs.clock import now
from runs.contract.errors import Transient
from runs.flows.looks import flow_wake, flows_pass, look_done, look_failed
from runs.flows.move import Move, flow_move, flow_start
from runs.flows.registry import flow_type, register_flow
from tests.db.kernel.pulls import pull_made

pytestmark = pytest.mark.django_db
NAME = CONVERGENCE_MACHINE.name
CAPTURED = Move(CONVERGENCE_MACHINE.edge("entry_captured"))


@pytest.fixture
def look_with():
    """Put a look of the test in the place of convergence's."""
    original = flow_type(NAME)
    yield lambda look: register_flow(replace(original, look=look))
    register_flow(original)


def started(number=1):
    pull = pull_made(number)
    edge = CONVERGENCE_MACHINE.edge("submitted")
    row, _ = flow_start(
        ConvergenceFlow,
        edge,
        subject=pull.subject,
        generation=1,
        actor="poller",
        now=now() - timedelta(seconds=1),
        pull=pull,
        max_rounds=20,
    )
    return row


def move_that_is_rolled_back(rows):
    for row in rows:
        try:
            with transaction.atomic():
                flow_move(row, CAPTURED, actor="poller", now=now())
                raise RuntimeError("boom")  # noqa: TRY301 -- what a move brings along fails
        except RuntimeError as error:
            look_failed(row, error)


def pause_of(row):
    row.refresh_from_db()
    return (row.due_at - now()).total_seconds()


def test_a_row_whose_move_was_rolled_back_backs_off_and_says_why(look_with):
    look_with(move_that_is_rolled_back)
    row = started()
    for failures, at_most in ((1, 60), (2, 120), (3, 240)):
        ConvergenceFlow.objects.update(due_at=now())
        flows_pass()
        assert at_most / 2 < pause_of(row) <= at_most
        assert (row.look_failures, row.last_look_error) == (failures, "RuntimeError: boom")
    assert row.state == CAPTURED.edge.sources[0]


def test_a_look_that_raises_as_a_whole_backs_off_every_row_of_it(look_with):
    def look(_rows):
        raise Transient("busy", "later", retry_after=300)

    look_with(look)
    rows = [started(1), started(2)]
    assert flows_pass() == 2
    assert all(240 < pause_of(row) <= 300 for row in rows)
    assert flows_pass() == 0


@pytest.mark.parametrize("fails", [False, True])
def test_a_wake_during_a_look_makes_the_next_one_come_at_once(look_with, fails):
    looked = []

    def look(rows):
        for row in rows:
            looked.append(row.pk)
            if len(looked) == 1:
                flow_wake(NAME, pk=row.pk)
            if fails:
                look_failed(row, RuntimeError("boom"))
            else:
                look_done(row, due_at=now() + timedelta(hours=1), now=now())

    look_with(look)
    row = started()
    flows_pass()
    assert looked == [row.pk, row.pk]
    assert pause_of(row) > 30


def test_a_failing_look_leaves_a_row_alone_that_somebody_else_moved():
    row = started()
    seen = ConvergenceFlow.objects.get(pk=row.pk)
    flow_move(row, CAPTURED, actor="poller", now=now())
    look_failed(seen, RuntimeError("boom"))
    row.refresh_from_db()
    assert (row.look_failures, row.last_look_error) == (0, "")


def test_a_backlog_of_one_flow_type_leaves_the_others_their_turn(look_with):
    other = flow_type("merge")
    looked: list[object] = []

    def look(rows):
        for row in rows:
            look_done(row, due_at=now() - timedelta(seconds=1), now=now())  # due again: a backlog that never ends

    look_with(look)
    started()

    def look_of_other(rows):
        looked.extend(rows)
        look(rows)

    register_flow(replace(other, model=ConvergenceFlow, look=look_of_other))
    try:
        flows_pass(limit=5)
    finally:
        register_flow(other)
    assert looked

"""Generated from the table: each edge from each state moves with one log row, or is refused and writes nothing."""

from itertools import pairwise

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergence.flow import CONVERGENCE_MACHINE, PullState
from convergence.models import ConvergenceFlow, Escalation, PullRequest, PullRequestGeneration, Repository
from convergence.services.move import Step, convergence_move
from convergence.texts import Question
from runs.clock import now
from runs.contract.errors import Refused
from runs.flows.move import flow_start
from runs.models import HumanTask, TransitionLog

pytestmark = pytest.mark.django_db

MOVING = [edge for edge in CONVERGENCE_MACHINE.edges if edge.sources]


def started(number):
    at = now()
    repository, _ = Repository.objects.get_or_create(
        forge_id=7, defaults={"owner": "acme", "name": "shop", "created_at": at}
    )
    pull = PullRequest.objects.create(
        repository=repository,
        number=number,
        title="Total",
        url="https://forge.example/acme/shop/pull/1",
        state=PullState.CONVERGING,
        generation=1,
        root="acme/shop#1",
        created_at=at,
        updated_at=at,
    )
    PullRequestGeneration.objects.create(
        pull=pull,
        number=1,
        abandon_token=f"token-{number}",
        max_rounds=20,
        auto_merge=False,
        submitted_by="operator:ann",
        submitted_at=at,
        correlation_id="c",
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
    return pull, row


def move(pull, row, edge):
    question = Question(edge.reason, f"What about {edge.name}?") if edge.reason else None
    with transaction.atomic():
        convergence_move(row, edge, pull=pull, actor="poller", now=now(), step=Step(question=question))


def force(pull, row, state):
    """Put the row into a state without its history, as the start of one case."""
    ended = now() if state in CONVERGENCE_MACHINE.terminal else None
    due = None if ended else now()
    ConvergenceFlow.objects.filter(pk=row.pk).update(state=state, ended_at=ended, due_at=due)
    row.refresh_from_db()
    pull.state = CONVERGENCE_MACHINE.states[state].shows


def test_each_edge_from_each_state_moves_once_or_writes_nothing():
    """CV-H3, CV-H22: one transition row for an edge, and the pull request shows what the table says."""
    number = 0
    for edge in MOVING:
        for state in CONVERGENCE_MACHINE.values:
            number += 1
            pull, row = started(number)
            force(pull, row, state)
            logged = TransitionLog.objects.count()
            try:
                move(pull, row, edge)
                moved = True
            except Refused:
                moved = False
            assert moved == (state in edge.sources), (edge.name, state)
            assert TransitionLog.objects.count() - logged == moved
            pull.refresh_from_db()
            row.refresh_from_db()
            assert row.state == (edge.target if moved else state)
            if moved:
                assert pull.state == CONVERGENCE_MACHINE.states[edge.target].shows


def test_a_lost_race_is_refused_and_changes_nothing():
    pull, row = started(1)
    other = ConvergenceFlow.objects.get(pk=row.pk)
    move(pull, other, CONVERGENCE_MACHINE.edge("entry_captured"))
    try:
        move(pull, row, CONVERGENCE_MACHINE.edge("unreachable"))
        raised = ""
    except Refused as error:
        raised = error.code
    assert raised == "moved_on"
    assert not Escalation.objects.exists()
    assert not HumanTask.objects.exists()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.integers(min_value=0, max_value=30), min_size=1, max_size=25))
def test_the_log_of_any_walk_is_a_connected_path(steps):
    """CV-H5: at most one question is open on the whole way."""
    number = PullRequest.objects.count() + 1
    pull, row = started(number)
    for step in steps:
        out = list(CONVERGENCE_MACHINE.out_of(row.state))
        if not out:
            break
        move(pull, row, out[step % len(out)])
        assert Escalation.objects.filter(pull=pull, state="open").count() == (row.state == "await_answer")
        assert HumanTask.objects.filter(subject=pull.subject, state="open").count() == (row.state == "await_answer")
    path = list(TransitionLog.objects.filter(flow_row=row.pk).order_by("id").values_list("from_state", "to_state"))
    assert path[0][0] == ""
    assert all(before[1] == after[0] for before, after in pairwise(path))
    assert path[-1][1] == row.state

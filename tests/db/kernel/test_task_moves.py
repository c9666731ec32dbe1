"""The human task's table in the database: each edge leaves its own states alone, and an end is an end."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.errors import Refused
from runs.humans.flow import TASK_MACHINE, TaskState
from runs.humans.tasks import TaskKind, register_kind, task_answer, task_revert, task_withdraw
from runs.models import HumanTask

pytestmark = pytest.mark.django_db
ENDS = {
    TaskState.OPEN: {},
    TaskState.ANSWERED: {"answered_at": now, "answered_by": lambda: "operator:ben"},
    TaskState.AUTO_ANSWERED: {"answered_at": now, "answered_by": lambda: "operator:ben"},
    TaskState.REVERTED: {"answered_at": now, "reverted_at": now, "reverted_by": lambda: "operator:cleo"},
    TaskState.CLOSED: {"closed_at": now, "closed_reason": lambda: "merged"},
}


@pytest.fixture(autouse=True)
def undoable():
    """A kind of question whose answers may be taken back, with nothing to void."""
    register_kind(TaskKind("undoable", "Undoable", undo=lambda task, actor, at: None))  # noqa: ARG005


def task_in(state: str) -> HumanTask:
    return HumanTask.objects.create(
        kind="undoable",
        subject="pull-request:1:1",
        subject_label="acme/shop#1",
        question="Half up?",
        form={"fields": [{"id": "answer", "kind": "text", "required": True}]},
        seen_hash="sha256:0",
        dedupe_key="sha256:1",
        state=state,
        created_at=now(),
        due_at=now() + timedelta(hours=1),
        **{name: value() for name, value in ENDS[TaskState(state)].items()},
    )


def fire(edge: str, task: HumanTask) -> bool:
    """Fire one edge through its own service; whether it moved the task."""
    if edge == "withdraw":
        return task_withdraw(task, reason="the pull request was merged", now=now())
    try:
        if edge == "revert":
            task_revert(task_id=task.pk, actor="operator:ann")
            return True
        task_answer(task_id=task.pk, variables={"answer": "yes"}, actor="operator:ann")
    except Refused:
        return False
    return True


@pytest.mark.parametrize("state", TASK_MACHINE.values)
@pytest.mark.parametrize("edge", [edge for edge in TASK_MACHINE.edges if edge.sources], ids=lambda edge: edge.name)
def test_an_edge_moves_exactly_from_its_own_states(edge, state):
    task = task_in(state)
    before = HumanTask.objects.values().get()
    moved = fire(edge.name, task)
    after = HumanTask.objects.values().get()
    assert moved is (state in edge.sources)
    assert after["state"] == (edge.target if moved else state)
    assert moved or after == before, "a refused edge writes nothing"

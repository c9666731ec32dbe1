"""Routes of human tasks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Query, Router
from pydantic import Field

from factory_site.api.answers import Task, TaskList
from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import Body, Page, conditional, window
from runs.contract.errors import Invalid
from runs.humans.attention import task_snooze, task_take
from runs.humans.flow import TASK_MACHINE
from runs.humans.selectors import task_find, task_json
from runs.humans.tasks import task_answer, task_revert
from runs.models import HumanTask, Role
from runs.subjects import subject_reference

if TYPE_CHECKING:
    from django.db.models import QuerySet

router = Router(by_alias=True)


class TaskFilter(Page):
    """Which tasks."""

    state: str | None = Field(None, max_length=40)
    kind: str | None = Field(None, max_length=40)
    subject: str | None = Field(None, max_length=250)


class Answer(Body):
    """An answer: the form's fields, and what was on screen when it was given."""

    variables: dict[str, Any]
    seen_hash: str | None = Field(None, max_length=71)


class Take(Body):
    """Whether it is given back."""

    back: bool = Field(default=False, strict=True)


class Snooze(Body):
    """Until when the reminders pause, and why."""

    until: datetime
    note: str = Field(max_length=400)


class Revert(Body):
    """Why the answer is taken back."""

    note: str = Field("", max_length=400)


@router.get("", response=responses({200: TaskList}, 304))
def task_list(request: HttpRequest, filters: Query[TaskFilter]) -> HttpResponse:
    """Human tasks, newest first."""
    return conditional(request, window(tasks_filtered(filters), filters, lambda rows: [task_json(row) for row in rows]))


@router.get("/{task_id}", response=responses({200: Task}, 304, 404))
def task_show(request: HttpRequest, task_id: int) -> HttpResponse:
    """One human task."""
    return conditional(request, task_json(task_find(task_id)))


@router.post("/{task_id}/complete", response=responses({200: Task}, 403, 404, 409, 413))
def task_complete(request: HttpRequest, task_id: int, body: Answer) -> dict[str, Any]:
    """Answer a task; the first answer wins."""
    caller = needs(request, Role.OPERATOR, "Answering a task")
    task_find(task_id)
    task = task_answer(task_id=task_id, variables=body.variables, actor=caller.actor, seen=body.seen_hash or "")
    return task_json(task)


@router.post("/{task_id}/take", response=responses({200: Task}, 403, 404, 409, 413))
def task_take_post(request: HttpRequest, task_id: int, body: Take | None = None) -> dict[str, Any]:
    """Tell the others that you are on it, for 30 minutes; it locks nothing."""
    caller = needs(request, Role.OPERATOR, "Taking a task")
    return task_json(task_take(task_id=task_id, actor=caller.actor, back=body.back if body else False))


@router.post("/{task_id}/snooze", response=responses({200: Task}, 403, 404, 409, 413))
def task_snooze_post(request: HttpRequest, task_id: int, body: Snooze) -> dict[str, Any]:
    """Pause the reminders of a task, at most 7 days; its due date stands."""
    caller = needs(request, Role.OPERATOR, "Snoozing a task")
    until = body.until if body.until.tzinfo else body.until.replace(tzinfo=UTC)
    return task_json(task_snooze(task_id=task_id, actor=caller.actor, until=until, note=body.note))


@router.post("/{task_id}/revert", response=responses({200: Task}, 403, 404, 409, 413))
def task_revert_post(request: HttpRequest, task_id: int, body: Revert | None = None) -> dict[str, Any]:
    """Take an answer back; while the turn that uses it has not ended, the question is asked anew."""
    caller = needs(request, Role.OPERATOR, "Taking an answer back")
    return task_json(task_revert(task_id=task_id, actor=caller.actor, note=body.note if body else ""))


def tasks_filtered(filters: TaskFilter) -> QuerySet[HumanTask]:
    """The tasks that the filter lets through; raises ``Invalid`` for a state that no task has."""
    rows = HumanTask.objects.all()
    if filters.state:
        if filters.state not in TASK_MACHINE.values:
            raise Invalid(
                "invalid_field",
                f"Unknown state {filters.state!r}. Known: {', '.join(TASK_MACHINE.values)}.",
                details={"field": "state"},
            )
        rows = rows.filter(state=filters.state)
    if filters.kind:
        rows = rows.filter(kind=filters.kind)
    if filters.subject:
        rows = rows.filter(subject=subject_reference(filters.subject))
    return rows

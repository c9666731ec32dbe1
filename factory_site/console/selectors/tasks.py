"""Questions to people: the lists, one task with what surrounds it, and its form as controls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Max

from convergence.models import Escalation, PullRequest
from factory_site.console.selectors.pull import pull_by_subject
from runs.contract.errors import Invalid
from runs.contract.numbers import whole_number
from runs.humans.flow import ENDED_WITH_ANSWER, TaskState
from runs.humans.tasks import task_kind
from runs.models.human_task import HumanTask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

PAGE = 50
ANSWERED_SHOWN = timedelta(days=30)
MOST_QUEUED = 200  # open tasks that a task's page knows its place among
EARLIER = 10  # earlier answers about one subject
TABS = {"open": "Open", "answered": "Answered", "automatic": "Automatic"}


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What the list is narrowed to."""

    tab: str = "open"
    kind: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One line: the task, its kind in words, and the pull request that it holds up."""

    task: HumanTask
    kind: str
    pull: PullRequest | None
    is_overdue: bool


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One task with what it is about, and the position in the queue of open ones."""

    row: TaskRow
    escalation: Escalation | None
    earlier: Sequence[HumanTask]
    position: int
    total: int
    previous: int | None
    following: int | None
    queue: Sequence[tuple[HumanTask, str, bool]]
    context: str


def kind_word(name: str) -> str:
    """The kind's word on screens; an unregistered kind is shown by its name."""
    try:
        return task_kind(name).word
    except KeyError:
        return name.replace("_", " ").capitalize()


def task_filter(asked: Mapping[str, str]) -> TaskFilter:
    """Read the filter from an address; raises ``Invalid`` for a value that is not known."""
    found = TaskFilter(asked.get("tab") or "open", asked.get("kind") or "", asked.get("before") or "")
    if found.tab not in TABS:
        raise Invalid("unknown_filter", f"Unknown tab “{found.tab}”. Known: {', '.join(TABS)}.")
    if found.before and whole_number(found.before) is None:
        raise Invalid("bad_cursor", "That position is not one of this list.")
    return found


def tasks_version(wanted: TaskFilter) -> tuple[Any, ...]:
    """What the list shows, as one value: the open tasks themselves, or the newest of the others; one or two reads."""
    if wanted.tab == "open":
        rows = HumanTask.objects.filter(state=TaskState.OPEN).order_by("due_at")
        return tuple(rows.values_list("pk", "taken_by", "snoozed_until")[: PAGE + 1])
    rows = HumanTask.objects.exclude(state=TaskState.OPEN)
    return (rows.aggregate(last=Max("answered_at"), undone=Max("reverted_at"), closed=Max("closed_at")),)


def task_list(wanted: TaskFilter, now: datetime) -> tuple[list[TaskRow], str]:
    """One page and the cursor of the next, blank on the last: open ones by due date, ended ones newest first."""
    if wanted.tab == "open":
        found = HumanTask.objects.filter(state=TaskState.OPEN).order_by("due_at", "id")
    else:
        ended = HumanTask.objects.exclude(state=TaskState.OPEN).filter(created_at__gt=now - ANSWERED_SHOWN)
        by_memory = {"answered_by_kind": "memory"}
        found = (ended.filter(**by_memory) if wanted.tab == "automatic" else ended.exclude(**by_memory)).order_by("-id")
        if wanted.before:
            found = found.filter(pk__lt=int(wanted.before))
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    tasks = list(found[: PAGE + 1])
    has_more = len(tasks) > PAGE and wanted.tab != "open"
    return task_rows(tasks[:PAGE], now), str(tasks[PAGE - 1].pk) if has_more else ""


def task_rows(tasks: Sequence[HumanTask], now: datetime) -> list[TaskRow]:
    """The lines of these tasks; two queries for their pull requests."""
    pulls = pull_by_subject([task.subject for task in tasks])
    return [
        TaskRow(
            task=task,
            kind=kind_word(task.kind),
            pull=pulls.get(task.subject),
            is_overdue=task.state == TaskState.OPEN and task.due_at <= now,
        )
        for task in tasks
    ]


def task_page(task: HumanTask, now: datetime) -> TaskPage:
    """One task, its question in full, earlier answers about its subject, and its neighbours among the open ones."""
    queue = list(HumanTask.objects.filter(state=TaskState.OPEN).order_by("due_at", "id")[:MOST_QUEUED])
    keys = [each.pk for each in queue]
    place = keys.index(task.pk) if task.pk in keys else -1
    earlier = (
        HumanTask.objects.filter(subject=task.subject, state__in=ENDED_WITH_ANSWER).exclude(pk=task.pk).order_by("-id")
    )
    return TaskPage(
        row=task_rows([task], now)[0],
        context=task.context.removeprefix(task.question).strip(),
        queue=[(each, kind_word(each.kind), each.due_at <= now) for each in queue[:PAGE]],
        escalation=Escalation.objects.filter(task=task).first(),
        earlier=list(earlier[:EARLIER]),
        position=place + 1,
        total=len(queue),
        previous=keys[place - 1] if place > 0 else None,
        following=keys[place + 1] if 0 <= place < len(queue) - 1 else None,
    )


def task_version(task: HumanTask) -> tuple[Any, ...]:
    """What the state line of a task shows, as one value."""
    return (
        task.state,
        task.answered_at,
        task.closed_at,
        task.taken_until,
        task.snoozed_until,
        task.seen_hash,
        task.effect_state,
    )

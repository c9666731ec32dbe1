"""Checks of what flows wait for: late and failing looks, hand-overs that are missing, requests that nobody heeds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from convergence.models import ReviewerStatus
from factory_site.doctor.report import EXAMPLES, Finding
from merging.models import Dependency
from merging.services.start import merges_missing
from runs.flows.registry import flow_types
from runs.humans.flow import TaskState
from runs.models import HumanTask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESTART = "restart: manage.py serve"
OVERDUE = timedelta(minutes=5)
MERGE_MISSING = timedelta(minutes=5)
UNREADABLE_FOR = timedelta(hours=1)
IGNORED_TIMES = 3
MOST_COUNTED = 1_000


def flows_overdue(at: datetime) -> list[Finding]:
    """Flows whose look is late by minutes."""
    found = []
    for flow in flow_types():
        late = list(flow.model.objects.due(at - OVERDUE)[:MOST_COUNTED])
        if late:
            names = tuple(row.subject for row in late[:EXAMPLES])
            looks = f"1 look of {flow.name} is" if len(late) == 1 else f"{len(late)} looks of {flow.name} are"
            text = f"{looks} late, the first since {late[0].due_at:%H:%M:%S} UTC"
            found.append(Finding("flow_overdue", len(late), late[0].due_at, text, names, RESTART))
    return found


def flows_backing_off(at: datetime) -> list[Finding]:
    """Flows whose last look failed; each row is looked at again by itself, ever more rarely."""
    del at
    found = []
    for flow in flow_types():
        rows = flow.model.objects.filter(due_at__isnull=False, look_failures__gt=0).order_by("due_at", "id")
        failing = list(rows[:MOST_COUNTED])
        if failing:
            first = failing[0]
            text = f"the look at {first.subject} failed, {first.look_failures} in a row: {first.last_look_error}"
            names = tuple(row.subject for row in failing[:EXAMPLES])
            mend = "mend what it names; it is looked at again by itself: manage.py prs list"
            found.append(Finding("flow_backing_off", len(failing), first.last_look_at, text, names, mend))
    return found


def merges_not_begun(at: datetime) -> list[Finding]:
    """Converged pull requests that were handed over for merging minutes ago and have no merge flow."""
    rows = [row for row in merges_missing() if row.ended_at is not None and at - row.ended_at > MERGE_MISSING]
    if not rows:
        return []
    text = f"{rows[0].subject} converged {rows[0].ended_at:%Y-%m-%d %H:%M} UTC and its merge has not begun"
    names = tuple(row.subject for row in rows[:EXAMPLES])
    return [Finding("merge_flow_missing", len(rows), rows[0].ended_at, text, names, RESTART)]


def dependencies_unreadable(at: datetime) -> list[Finding]:
    """Dependencies on repositories that the forge's token has not been able to read for an hour."""
    waiting = Dependency.objects.select_related("pull__repository").filter(
        dropped_at__isnull=True, unreadable_since__lt=at - UNREADABLE_FOR
    )
    rows = list(waiting.order_by("unreadable_since")[:MOST_COUNTED])
    if not rows:
        return []
    first = rows[0]
    text = f"{first.pull.key} waits for {first.reference}, whose repository cannot be read"
    names = tuple(row.reference for row in rows[:EXAMPLES])
    mend = f"give the forge's token access, or: manage.py prs drop-dependency {first.pull.key} {first.reference}"
    return [Finding("dependency_unreadable", len(rows), first.unreadable_since, text, names, mend)]


def requests_ignored(at: datetime) -> list[Finding]:
    """Reviewers that were asked several times and took no note of it."""
    del at
    rows = ReviewerStatus.objects.select_related("repository").filter(ignored_count__gte=IGNORED_TIMES)
    return [
        Finding(
            "review_request_ignored",
            row.ignored_count,
            row.checked_at,
            f"{row.reviewer} ignored {row.ignored_count} requests in {row.repository.full_name}",
            (row.reviewer,),
            f"mend the reviewer at the forge, then: manage.py prs probe-reviewer {row.repository.full_name} "
            f"{row.reviewer}",
        )
        for row in rows.order_by("id")[:MOST_COUNTED]
    ]


def tasks_overdue(at: datetime) -> list[Finding]:
    """Questions whose time to answer has passed."""
    late = HumanTask.objects.filter(state=TaskState.OPEN, due_at__lt=at).order_by("due_at", "id")
    rows = list(late.values_list("pk", "due_at")[:MOST_COUNTED])
    if not rows:
        return []
    word = "question waits" if len(rows) == 1 else "questions wait"
    text = f"{len(rows)} {word}, the oldest due since {rows[0][1]:%Y-%m-%d %H:%M} UTC"
    names = tuple(str(key) for key, _ in rows[:EXAMPLES])
    return [Finding("task_overdue", len(rows), rows[0][1], text, names, "manage.py tasks list")]


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    flows_overdue,
    flows_backing_off,
    merges_not_begun,
    dependencies_unreadable,
    requests_ignored,
    tasks_overdue,
)

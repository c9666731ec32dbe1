"""What people do with a question beside answering it, and when they are reminded of it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from runs.clock import now as clock_now
from runs.contract.errors import Invalid, Refused
from runs.humans.flow import TaskState
from runs.humans.selectors import task_find
from runs.models.human_task import HumanTask
from runs.policy import policy
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

_log = logging.getLogger(__name__)

TAKEN_FOR = timedelta(minutes=30)
LONGEST_SNOOZE = timedelta(days=7)
LATER_REMINDERS = timedelta(hours=24)  # between two once those of the policy are used up
BATCH = 200
MOST_NOTE = 400


def task_take(*, task_id: int, actor: str, back: bool = False) -> HumanTask:
    """Tell the others that the actor is on it, for 30 minutes, or that nobody is; it locks nothing.

    Raises ``NotFound`` unknown_task, ``Refused`` superseded for a question that is not open.
    """
    until = None if back else clock_now() + TAKEN_FOR
    return _noted(
        task_id,
        "gave back" if back else "took",
        actor,
        "",
        taken_by="" if back else actor,
        taken_until=until,
    )


def task_snooze(*, task_id: int, actor: str, until: datetime, note: str) -> HumanTask:
    """Pause the reminders until then, at most 7 days; the question stays listed and its due date stands.

    Raises ``Invalid`` invalid_field for an instant that is past or too far, or without a note; ``Refused`` superseded.
    """
    now = clock_now()
    if not now < until <= now + LONGEST_SNOOZE:
        raise Invalid("invalid_field", "until: name an instant within the next 7 days.", details={"field": "until"})
    if not note.strip():
        raise Invalid("invalid_field", "note: say why it may wait.", details={"field": "note"})
    return _noted(task_id, "snoozed", actor, note.strip(), snoozed_until=until)


def _noted(task_id: int, what: str, actor: str, note: str, **columns: object) -> HumanTask:
    task = task_find(task_id)
    entry = {"what": what, "by": actor, "at": clock_now().isoformat(), "note": note[:MOST_NOTE]}
    with joined_transaction():
        locked = HumanTask.objects.select_for_update().get(pk=task.pk)
        if locked.state != TaskState.OPEN:
            raise Refused("superseded", f"The question is {locked.state}; nothing was changed.")
        HumanTask.objects.filter(pk=task.pk).update(history=[*locked.history, entry], **columns)
    task.refresh_from_db()
    return task


def reminders_passed(age: timedelta, reminders: Sequence[timedelta]) -> int:
    """How many reminders a question of this age has had its time for: those of the policy, then one each 24 hours."""
    passed = sum(1 for each in reminders if age >= each)
    last = reminders[-1] if reminders else timedelta()
    if passed < len(reminders):
        return passed
    return passed + int((age - last) / LATER_REMINDERS)


def reminders_pass(limit: int = BATCH) -> int:
    """Remind of questions that have waited; return of how many. A snoozed one is left alone, and missed ones are one.

    Each row is taken by compare-and-set on its count, so that two passes remind once.
    """
    now = clock_now()
    reminders = policy().tasks.reminders
    soonest = min([*reminders, LATER_REMINDERS])
    awake = Q(snoozed_until__isnull=True) | Q(snoozed_until__lte=now)
    quiet = Q(reminded_at__isnull=True, created_at__lte=now - soonest) | Q(reminded_at__lte=now - soonest)
    waiting = HumanTask.objects.filter(awake, quiet, state=TaskState.OPEN).order_by("due_at", "id")
    reminded = 0
    for task in waiting[:limit]:
        count = reminders_passed(now - task.created_at, reminders)
        if count > task.reminder_count:
            reminded += _remind(task, count, now)
    return reminded


def _remind(task: HumanTask, count: int, now: datetime) -> int:
    same = HumanTask.objects.filter(pk=task.pk, state=TaskState.OPEN, reminder_count=task.reminder_count)
    taken = same.update(reminder_count=count, reminded_at=now)
    if taken:
        late = ", overdue" if task.due_at <= now else ""
        _log.warning("task %d of %s still waits for an answer%s: %s", task.pk, task.subject_label, late, task.question)
    return taken

"""Reading human tasks."""

from __future__ import annotations

from typing import Any

from runs.contract.errors import NotFound
from runs.models.human_task import HumanTask

MOST_KEY = 2**63 - 1  # of any row


def task_find(task_id: int) -> HumanTask:
    """The task by its number; raises ``NotFound`` unknown_task."""
    task = HumanTask.objects.filter(pk=task_id).first() if 0 < task_id <= MOST_KEY else None
    if task is None:
        raise NotFound("unknown_task", f"There is no task {task_id}.")
    return task


def task_json(task: HumanTask) -> dict[str, Any]:
    """The task in the API's shape."""
    return {
        "id": task.pk,
        "kind": task.kind,
        "subject": task.subject,
        "subjectLabel": task.subject_label,
        "question": task.question,
        "form": task.form,
        "context": task.context,
        "seenHash": task.seen_hash,
        "createdAt": task.created_at,
        "dueAt": task.due_at,
        "state": task.state,
        "answeredAt": task.answered_at,
        "answeredBy": task.answered_by or None,
        "variables": task.variables or None,
        "closedAt": task.closed_at,
        "closedReason": task.closed_reason or None,
        "remindedAt": task.reminded_at,
        "reminderCount": task.reminder_count,
        "takenBy": task.taken_by or None,
        "takenUntil": task.taken_until,
        "snoozedUntil": task.snoozed_until,
        "revertedAt": task.reverted_at,
        "revertedBy": task.reverted_by or None,
        "history": task.history,
    }

"""Reading human tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runs.models import HumanTask


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
    }

"""Asking a person about a pull request, and ending the question when it is answered or pointless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.fingerprint import fingerprint
from convergence.models import Escalation, EscalationState
from runs.humans.tasks import task_ask, task_withdraw

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.models import PullRequest
    from convergence.texts import Question
    from runs.models.flow_row import FlowRow

REVIEW_ANSWER = "review_answer"


def escalation_open(
    *,
    pull: PullRequest,
    row: FlowRow,
    round_number: int,
    question: Question,
    form: Mapping[str, Any],
    task_kind: str,
    now: datetime,
) -> Escalation:
    """Ask in the caller's transaction; a blank question raises ``Invalid`` and a second open one ``IntegrityError``."""
    mark = fingerprint(question.text)
    flow = row.machine.name
    task = task_ask(
        kind=task_kind,
        subject=pull.subject,
        subject_label=pull.key,
        question=question.text,
        context=_context(question),
        form=form,
        refs={"flow": flow, "row": row.pk, "generation": row.generation, "reason": question.reason},
        fingerprint=f"{flow}:{row.generation}:{mark}",
        now=now,
    )
    return Escalation.objects.create(
        pull=pull,
        flow=flow,
        generation=row.generation,
        round=round_number,
        reason=question.reason,
        kind=question.kind,
        text=question.text,
        fingerprint=mark,
        task=task,
        asked_at=now,
    )


def escalation_current(pull: PullRequest) -> Escalation | None:
    """The open question of the pull request with its task."""
    return Escalation.objects.select_related("task").filter(pull=pull, state=EscalationState.OPEN).first()


def escalation_end(pull: PullRequest, *, answered: bool, reason: str, now: datetime) -> None:
    """End the open question, if there is one, in the caller's transaction; a task that nobody answered is withdrawn."""
    current = escalation_current(pull)
    if current is None:
        return
    state = EscalationState.ANSWERED if answered else EscalationState.STALE
    Escalation.objects.filter(pk=current.pk, state=EscalationState.OPEN).update(state=state, ended_at=now)
    task_withdraw(current.task, reason=reason, now=now)  # moves nothing where a person answered


def _context(question: Question) -> str:
    """The full text, because the task's question is cut at its first words."""
    return "\n\n".join(part for part in (question.text, question.context) if part)

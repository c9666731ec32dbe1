"""Asking a person about a pull request, and ending the question when it is answered or pointless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.fingerprint import fingerprint
from convergence.models import Escalation, EscalationState
from runs.humans.tasks import task_ask, task_recall, task_withdraw

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
    task = task_ask(now=now, **_asked(pull, row, question, form, task_kind))
    return Escalation.objects.create(task=task, asked_at=now, **_columns(pull, row, round_number, question))


def escalation_recall(
    *,
    pull: PullRequest,
    row: FlowRow,
    round_number: int,
    question: Question,
    form: Mapping[str, Any],
    earlier: Escalation,
    now: datetime,
) -> Escalation:
    """Record a question that an earlier answer settles, in the caller's transaction: answered in that person's name."""
    asked = _asked(pull, row, question, form, REVIEW_ANSWER)
    task = task_recall(now=now, answer_of=earlier.task, **asked)
    return Escalation.objects.create(
        task=task,
        asked_at=now,
        ended_at=now,
        state=EscalationState.ANSWERED,
        auto_applied=True,
        **_columns(pull, row, round_number, question),
    )


def _asked(
    pull: PullRequest, row: FlowRow, question: Question, form: Mapping[str, Any], task_kind: str
) -> dict[str, Any]:
    """What the task asks."""
    flow = row.machine.name
    return {
        "kind": task_kind,
        "subject": pull.subject,
        "subject_label": pull.key,
        "question": question.text,
        "context": _context(question),
        "form": form,
        "refs": {"flow": flow, "row": row.pk, "generation": row.generation, "reason": question.reason},
        "fingerprint": f"{flow}:{row.generation}:{fingerprint(question.text)}",
    }


def _columns(pull: PullRequest, row: FlowRow, round_number: int, question: Question) -> dict[str, Any]:
    waivable = {"head": question.waive_head, "targets": [list(each) for each in question.waives]}
    return {
        "pull": pull,
        "flow": row.machine.name,
        "generation": row.generation,
        "round": round_number,
        "reason": question.reason,
        "kind": question.kind,
        "text": question.text,
        "fingerprint": fingerprint(question.text),
        "waivable": waivable if question.waives and question.waive_head else {},
    }


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

"""Asking a person, taking the answer, and withdrawing a question that has become pointless."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

from runs.clock import now as clock_now
from runs.contract.canonical import document_hash
from runs.contract.errors import Invalid, Refused
from runs.flows.looks import subject_wake
from runs.humans.flow import TASK_MACHINE, TaskState
from runs.humans.forms import answer_check, form_check
from runs.humans.selectors import task_find
from runs.models.human_task import HumanTask
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

MOST_QUESTION = 280  # characters
MOST_CONTEXT = 8 * 1024  # characters


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One kind of question: its name, its word on screens, and a further check of an answer that fits the form.

    ``act(task, answer, actor)`` is what an answer does, in its transaction; what it raises refuses the answer.
    """

    name: str
    word: str
    check: Callable[[HumanTask, Mapping[str, Any]], None] | None = None
    act: Callable[[HumanTask, Mapping[str, Any], str], None] | None = None


_kinds: dict[str, TaskKind] = {}


def register_kind(kind: TaskKind) -> None:
    """Make a kind of question known; no task of an unknown kind can be asked."""
    _kinds[kind.name] = kind


def task_kind(name: str) -> TaskKind:
    """The kind of this name; ``KeyError`` when none is registered."""
    return _kinds[name]


def question_cut(text: str) -> str:
    """The first 280 characters of a question, cut at a word."""
    text = " ".join(text.split())
    if len(text) <= MOST_QUESTION:
        return text
    return text[: MOST_QUESTION - 1].rsplit(" ", 1)[0] + "…"


def seen_hash(question: str, form: Mapping[str, Any], context: str) -> str:
    """What an answer is bound to: the hash of question, form and context as shown."""
    return document_hash({"question": question, "form": form, "context": context})


def task_ask(
    *,
    kind: str,
    subject: str,
    subject_label: str,
    question: str,
    context: str,
    form: Mapping[str, Any],
    refs: Mapping[str, Any],
    fingerprint: str,
    now: datetime,
) -> HumanTask:
    """Ask a person, in the caller's transaction; return the open task, the same one for the same open question.

    Raises ``Invalid`` for a blank question: nobody is paged with an empty page.
    """
    shown = question_cut(question)
    if not shown:
        raise Invalid("invalid_field", "A question to a person is never blank.", details={"field": "question"})
    form_check(form)
    dedupe_key = document_hash({"kind": task_kind(kind).name, "subject": subject, "fingerprint": fingerprint})
    task, _ = HumanTask.objects.get_or_create(
        dedupe_key=dedupe_key,
        state=TaskState.OPEN,
        defaults={
            "kind": kind,
            "subject": subject,
            "subject_label": subject_label,
            "question": shown,
            "context": context[:MOST_CONTEXT],
            "form": dict(form),
            "seen_hash": seen_hash(shown, form, context[:MOST_CONTEXT]),
            "refs": dict(refs),
            "created_at": now,
            "due_at": now + settings.FACTORY.escalation_sla_timeout,
        },
    )
    return task


def task_answer(*, task_id: int, variables: Mapping[str, Any], actor: str, seen: str = "") -> HumanTask:
    """Record the answer of a person; the first one wins, and the flow that asked looks at once.

    Raises ``NotFound`` unknown_task, ``Refused`` already_answered, superseded or stale_question, ``Invalid``
    invalid_answer, and what the kind's own act refuses with. A refused answer changes nothing.
    """
    task = task_find(task_id)
    _refuse_ended(task)
    if seen and seen != task.seen_hash:
        raise Refused("stale_question", "The question has changed since it was shown. Nothing was answered.")
    answer = answer_check(task.form, variables)
    kind = task_kind(task.kind)
    if kind.check is not None:
        kind.check(task, answer)
    now = clock_now()
    with joined_transaction():
        moved = _task_move(
            task,
            "answer",
            answered_at=now,
            answered_by=actor,
            answered_by_kind="person",
            answered_seen=seen or task.seen_hash,
            variables=answer,
        )
        if moved:
            if kind.act is not None:
                kind.act(task, answer, actor)
            subject_wake(task.subject)
    task.refresh_from_db()
    if not moved:
        _refuse_ended(task)
    return task


def task_withdraw(task: HumanTask, *, reason: str, now: datetime) -> bool:
    """Close a question that nobody needs to answer any more, in the caller's transaction; False if it had ended."""
    return _task_move(task, "withdraw", closed_at=now, closed_reason=reason[:200])


def _task_move(task: HumanTask, edge_name: str, **columns: Any) -> bool:
    """Take the edge by compare-and-set on the state; the only writer of a task's state."""
    edge = TASK_MACHINE.edge(edge_name)
    return bool(HumanTask.objects.filter(pk=task.pk, state__in=edge.sources).update(state=edge.target, **columns))


def _refuse_ended(task: HumanTask) -> None:
    if task.state == TaskState.ANSWERED:
        raise Refused(
            "already_answered",
            f"Already answered by {task.answered_by.removeprefix('operator:')}. Nothing was changed.",
            details={"by": task.answered_by, "at": task.answered_at, "variables": task.variables},
        )
    if task.state == TaskState.CLOSED:
        raise Refused(
            "superseded",
            f"The question is no longer open: {task.closed_reason or 'what it asked about has moved on'}.",
            details={"reason": task.closed_reason},
        )

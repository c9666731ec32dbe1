"""Asking a person, taking the answer, and withdrawing a question that has become pointless."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

from runs.clock import now as clock_now
from runs.contract.canonical import document_hash
from runs.contract.errors import Invalid, Refused
from runs.flows.looks import subject_wake
from runs.humans.flow import ENDED_WITH_ANSWER, TASK_MACHINE, TaskState
from runs.humans.forms import answer_check, form_check
from runs.humans.selectors import task_find
from runs.models.human_task import HumanTask
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MOST_QUESTION = 280  # characters
MOST_CONTEXT = 8 * 1024  # characters


Undo = Callable[["HumanTask", str, "datetime"], None]


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One kind of question: its name, its word on screens, and a further check of an answer that fits the form.

    ``act(task, answer, actor)`` is what an answer does, in its transaction; what it raises refuses the answer.
    ``undo(task, actor, now)`` voids what the flow learned from an answer; a kind without it takes nothing back.
    """

    name: str
    word: str
    check: Callable[[HumanTask, Mapping[str, Any]], None] | None = None
    act: Callable[[HumanTask, Mapping[str, Any], str], None] | None = None
    undo: Undo | None = None


_kinds: dict[str, TaskKind] = {}


def register_kind(kind: TaskKind) -> None:
    """Make a kind of question known; no task of an unknown kind can be asked."""
    _kinds[kind.name] = kind


def task_kind(name: str) -> TaskKind:
    """The kind of this name; ``KeyError`` when none is registered."""
    return _kinds[name]


def may_undo(kind: str) -> bool:
    """Whether an answer of this kind may be taken back."""
    found = _kinds.get(kind)
    return found is not None and found.undo is not None


def question_cut(text: str) -> str:
    """The first 280 characters of a question, cut at a word."""
    text = " ".join(text.split())
    if len(text) <= MOST_QUESTION:
        return text
    return text[: MOST_QUESTION - 1].rsplit(" ", 1)[0] + "…"


def seen_hash(question: str, form: Mapping[str, Any], context: str) -> str:
    """What an answer is bound to: the hash of question, form and context as shown."""
    return document_hash({"question": question, "form": form, "context": context})


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a person. ``question`` is cut to its first words; ``refs`` names the row that asks.

    ``fingerprint`` with kind and subject makes two questions the same one.
    """

    kind: str
    subject: str
    subject_label: str
    question: str
    context: str
    form: Mapping[str, Any]
    refs: Mapping[str, Any]
    fingerprint: str

    def columns(self, now: datetime) -> dict[str, Any]:
        """The columns of its task; raises ``Invalid`` for a blank question: nobody is paged with an empty page."""
        shown, context = question_cut(self.question), self.context[:MOST_CONTEXT]
        if not shown:
            raise Invalid("invalid_field", "A question to a person is never blank.", details={"field": "question"})
        form_check(self.form)
        same = {"kind": task_kind(self.kind).name, "subject": self.subject, "fingerprint": self.fingerprint}
        return {
            "kind": self.kind,
            "subject": self.subject,
            "subject_label": self.subject_label,
            "question": shown,
            "context": context,
            "form": dict(self.form),
            "seen_hash": seen_hash(shown, self.form, context),
            "refs": dict(self.refs),
            "dedupe_key": document_hash(same),
            "created_at": now,
            "due_at": now + settings.FACTORY.escalation_sla_timeout,
        }


def task_ask(*, now: datetime, **asked: Any) -> HumanTask:
    """Ask a person what the fields of ``Asked`` say, in the caller's transaction.

    Returns the open task, the same one for the same open question. Raises ``Invalid`` for a blank question.
    """
    columns = Asked(**asked).columns(now)
    task, _ = HumanTask.objects.get_or_create(
        dedupe_key=columns.pop("dedupe_key"), state=TaskState.OPEN, defaults=columns
    )
    return task


def task_recall(*, now: datetime, answer_of: HumanTask, **asked: Any) -> HumanTask:
    """Answer a question at once as an earlier one was answered, in the caller's transaction, in that person's name."""
    columns = Asked(**asked).columns(now)
    columns["refs"] = {**columns["refs"], "answeredAs": answer_of.pk}
    return HumanTask.objects.create(
        state=TASK_MACHINE.edge("recall").target,
        answered_at=now,
        answered_by=answer_of.answered_by,
        answered_by_kind="memory",
        answered_seen=columns["seen_hash"],
        variables={name: answer_of.variables[name] for name in ("answer", "resolution") if name in answer_of.variables},
        **columns,
    )


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


def task_revert(*, task_id: int, actor: str, note: str = "") -> HumanTask:
    """Take an answer back; what was learned from it is void, and the flow that uses it looks at once.

    Raises ``NotFound`` unknown_task, ``Refused`` already_reverted, stale (nothing is answered), superseded (the
    question was withdrawn) or already_decided (answers of this kind cannot be taken back).
    """
    task = task_find(task_id)
    undo = task_kind(task.kind).undo
    _refuse_revert(task, can_undo=undo is not None)
    now = clock_now()
    with joined_transaction():
        moved = _task_move(task, "revert", reverted_at=now, reverted_by=actor, revert_note=note[:500])
        if moved and undo is not None:
            undo(task, actor, now)
            subject_wake(task.subject)
    task.refresh_from_db()
    if not moved:
        _refuse_revert(task, can_undo=True)
    return task


def _task_move(task: HumanTask, edge_name: str, **columns: Any) -> bool:
    """Take the edge by compare-and-set on the state; the only writer of a task's state."""
    edge = TASK_MACHINE.edge(edge_name)
    return bool(HumanTask.objects.filter(pk=task.pk, state__in=edge.sources).update(state=edge.target, **columns))


def _refuse_ended(task: HumanTask) -> None:
    if task.state in ENDED_WITH_ANSWER:
        raise Refused(
            "already_answered",
            f"Already answered by {task.answered_by.removeprefix('operator:')}. Nothing was changed.",
            details={"by": task.answered_by, "at": task.answered_at, "variables": task.variables},
        )
    if task.state == TaskState.REVERTED:
        raise Refused("superseded", "Its answer was taken back; a question that is still open stands in a new task.")
    if task.state == TaskState.CLOSED:
        raise Refused(
            "superseded",
            f"The question is no longer open: {task.closed_reason or 'what it asked about has moved on'}.",
            details={"reason": task.closed_reason},
        )


def _refuse_revert(task: HumanTask, *, can_undo: bool) -> None:
    if task.state == TaskState.REVERTED:
        who = task.reverted_by.removeprefix("operator:")
        raise Refused("already_reverted", f"{who} has taken this answer back already. Nothing was changed.")
    if task.state == TaskState.OPEN:
        raise Refused("stale", "The question is open: there is no answer to take back.")
    if task.state == TaskState.CLOSED:
        raise Refused("superseded", "The question was withdrawn: there is no answer to take back.")
    if not can_undo:
        raise Refused("already_decided", "What followed from this answer cannot be taken back. Nothing was changed.")

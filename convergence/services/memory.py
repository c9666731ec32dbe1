"""Remembering what people decided: answers that settle the same question, and taking them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.fingerprint import fingerprint
from convergence.flow import CONVERGENCE_MACHINE
from convergence.models import Adjudication, Escalation, EscalationState, Waiver
from runs.contract.errors import Refused

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.models import ConvergenceFlow, PullRequest
    from runs.models import HumanTask

REMEMBERED_REASONS = frozenset({"needs_input", "blocked", "scope"})
PERSON = "operator:"


def answer_remembered(escalation: Escalation, now: datetime) -> None:
    """Keep a person's answer for the rest of the generation, in the caller's transaction; a newer one replaces it.

    Only answers to questions of the agents are kept, given by a person and not blank.
    """
    task = escalation.task
    decided_by, answer = task.answered_by, str(task.variables.get("answer", "")).strip()
    by_person = task.answered_by_kind == "person" and decided_by.startswith(PERSON)
    if escalation.reason not in REMEMBERED_REASONS or escalation.auto_applied or not by_person or not answer:
        return
    same = Adjudication.objects.filter(
        pull=escalation.pull, generation=escalation.generation, fingerprint=escalation.fingerprint
    )
    same.filter(ended_at__isnull=True).update(ended_at=now, ended_by=decided_by, ended_why="replaced")
    Adjudication.objects.create(
        pull=escalation.pull,
        generation=escalation.generation,
        fingerprint=escalation.fingerprint,
        escalation=escalation,
        decided_by=decided_by,
        created_at=now,
    )


def answer_recallable(row: ConvergenceFlow, question: str) -> Adjudication | None:
    """The live answer to this question of the row's generation, None where it was given in this round already."""
    mark = fingerprint(question)
    if answer_given(row, question) is not None:
        return None
    return (
        Adjudication.objects.select_related("escalation__task")
        .filter(pull=row.pull_id, generation=row.generation, fingerprint=mark, ended_at__isnull=True)
        .first()
    )


def answer_given(row: ConvergenceFlow, question: str) -> Escalation | None:
    """The newest answer to this question in the row's round, whoever gave it and even if it was taken back."""
    asked = Escalation.objects.select_related("task").filter(
        pull=row.pull_id,
        generation=row.generation,
        round=row.round,
        fingerprint=fingerprint(question),
        state=EscalationState.ANSWERED,
    )
    return asked.order_by("-id").first()


def answer_source(row: ConvergenceFlow) -> Escalation | None:
    """The question whose answer the row carries or its newest answered turn was given."""
    if row.answer_from_id is None:
        return None
    return Escalation.objects.select_related("task").filter(pk=row.answer_from_id).first()


def answers_carried(pull: PullRequest, *, generation: int, to: int) -> None:
    """Copy the live answers to the next generation with their attribution, because nobody asked to decide anew."""
    live = Adjudication.objects.filter(pull=pull, generation=generation, ended_at__isnull=True)
    Adjudication.objects.bulk_create(
        Adjudication(
            pull=pull,
            generation=to,
            fingerprint=each.fingerprint,
            escalation_id=each.escalation_id,
            decided_by=each.decided_by,
            created_at=each.created_at,
        )
        for each in live
    )


def answer_undone(task: HumanTask, actor: str, now: datetime) -> None:
    """Void what was learned from an answer, in the caller's transaction: it is remembered no more and waives nothing.

    Raises ``Refused`` stale while the flow is about to take the answer up, already_decided where it ended the flow.
    """
    escalation = Escalation.objects.select_for_update().filter(task=task, flow=CONVERGENCE_MACHINE.name).first()
    if escalation is None:
        return
    if escalation.state == EscalationState.OPEN:
        raise Refused("stale", "The flow is about to take this answer up; try again in a few seconds.")
    if task.variables.get("resolution") == "abandon":
        raise Refused("already_decided", "The pull request was abandoned with this answer; submit it again instead.")
    Escalation.objects.filter(pk=escalation.pk).update(reverted_at=now, reverted_by=actor)
    taught = Adjudication.objects.filter(
        pull=escalation.pull_id, fingerprint=escalation.fingerprint, ended_at__isnull=True
    )
    taught.filter(generation__gte=escalation.generation).update(ended_at=now, ended_by=actor, ended_why="reverted")
    Waiver.objects.filter(escalation=escalation, ended_at__isnull=True).update(ended_at=now)

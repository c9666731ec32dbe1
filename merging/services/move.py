"""The one way in which the merge flow moves, with everything that belongs to an edge in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from convergence.models import PullRequestGeneration
from convergence.services.escalations import escalation_end, escalation_open
from convergence.services.move import pull_show
from convergence.services.submit import pull_resubmit
from merging.decisions.timing import EFFECT_LIMIT, LANDING_LIMIT, LANDING_LOOKS
from merging.flow import MERGE_MACHINE, MergeState
from merging.forms import merge_form
from merging.services.dependencies import dependents_wake
from runs.flows.looks import flow_wake
from runs.flows.move import Effect, Move, flow_actor, flow_move
from runs.outbox.write import outbox_add

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.models import PullRequest
    from convergence.texts import Question
    from merging.models import MergeFlow
    from runs.machine import Edge
    from runs.models.transition import TransitionLog

S = MergeState
MERGE_ESCALATION = "merge_escalation"
MERGED_EVENT = "factory.pull-request.merged"
BASE_BUSY = "base_busy"
ANSWERED_EDGES = frozenset({"answered", "answered_abandon", "answered_drop", "answered_look_again"})


@dataclass(frozen=True, slots=True)
class Step:
    """What an edge brings along: columns, effects, due dates, the question it asks, and the words of an ending."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    due_at: datetime | None = None
    guards: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    question: Question | None = None
    dependencies: Sequence[str] = ()  # that the question may be answered with
    outcome: str = ""


def merge_move(
    row: MergeFlow, edge: Edge, *, pull: PullRequest, actor: str, now: datetime, step: Step
) -> TransitionLog:
    """Take the edge in a transaction of its own or the caller's, or raise ``Refused`` and change nothing.

    Compare-and-set on the row; then the open question is ended, a new one asked, the pull request's state shown, the
    merge announced or the next generation begun. ``IntegrityError``: another flow of the same base is merging.
    """
    left, base = row.state, (row.repository_id, row.base_ref)
    entry = _entry(row, edge, now)
    move = Move(
        edge=edge,
        columns={"looks": 0, "held_reason": "", **entry.columns, **step.columns},
        effects=step.effects,
        due_at=step.due_at or entry.due_at,
        timer_at=entry.timer_at,
        guards={"verdict": row.verdict, "head": row.verdict_head, **step.guards},
        note=step.note,
    )
    with transaction.atomic():
        log = flow_move(row, move, actor=actor, now=now)
        if left == S.ESCALATED:
            escalation_end(pull, answered=edge.name in ANSWERED_EDGES, reason=edge.name.replace("_", " "), now=now)
        if step.question is not None:
            escalation_open(
                pull=pull,
                row=row,
                round_number=0,
                question=step.question,
                form=merge_form(step.question.reason, step.dependencies),
                task_kind=MERGE_ESCALATION,
                now=now,
            )
        if left == S.MERGING:
            flow_wake(MERGE_MACHINE.name, repository_id=base[0], base_ref=base[1], held_reason=BASE_BUSY)
        if edge.target in MERGE_MACHINE.terminal:
            _generation_ended(row, step.outcome or edge.target)
            dependents_wake(pull)
        if edge.target == S.RETURNED:
            pull_resubmit(pull=pull, actor=flow_actor(MERGE_MACHINE, row.subject), now=now)
        else:
            pull_show(pull, MERGE_MACHINE.states[edge.target].shows, now)
        if edge.target == S.MERGED:
            _announce(row, pull, now)
    return log


@dataclass(frozen=True, slots=True)
class _Entry:
    """What entering a state means for its columns and due dates."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    due_at: datetime | None = None
    timer_at: datetime | None = None


def _entry(row: MergeFlow, edge: Edge, now: datetime) -> _Entry:
    config = settings.FACTORY
    poll = timedelta(seconds=config.poll_seconds)
    if edge.target == S.WAITING_MERGE:  # armed: the stall clock begins anew, the budgets are kept
        armed = {"stalls": 0, "stall_since": now, "stall_mark": ""}
        return _Entry(armed, timer_at=now + config.mergeable_wait_timeout)
    if edge.target == S.REPOLLING:
        pause = config.mergeable_repoll_interval
        return _Entry({"stalls": row.stalls + 1, "stall_since": now}, now + min(pause, poll), now + pause)
    if edge.target == S.MERGING:
        return _Entry({"retry_at": None}, now + EFFECT_LIMIT, now + EFFECT_LIMIT)
    if edge.target == S.VERIFYING_LANDING:
        return _Entry({}, now + timedelta(seconds=LANDING_LOOKS[0]), now + LANDING_LIMIT)
    if edge.target == S.ESCALATED:
        return _Entry(
            {
                "asked_verdict": row.verdict,
                "asked_head": row.verdict_head or row.pull.head_sha,
                "asked_base_sha": row.verdict_base_sha,
            },
            due_at=now + poll,
        )
    return _Entry()


def _generation_ended(row: MergeFlow, outcome: str) -> None:
    PullRequestGeneration.objects.filter(pull_id=row.pull_id, number=row.generation).update(outcome=outcome[:200])


def _announce(row: MergeFlow, pull: PullRequest, now: datetime) -> None:
    """Publish the landing once for each generation; its key is the event's id."""
    key = f"{flow_actor(MERGE_MACHINE, row.subject)}:g{row.generation}:{MERGED_EVENT}"
    landed = row.attempts.filter(outcome="merged").order_by("-id").first()
    generation = PullRequestGeneration.objects.filter(pull_id=row.pull_id, number=row.generation).first()
    outbox_add(
        topic="flow.event",
        key=key,
        stream=f"event:{row.subject}",  # of its own: effects of the subject never wait for the intake
        payload={
            "type": MERGED_EVENT,
            "source": "flow",
            "eventId": key,
            "subject": row.subject,
            "occurredAt": now.isoformat(),
            "correlationId": generation.correlation_id if generation else "",
            "payload": {
                "prKey": pull.key,
                "generation": row.generation,
                "landedSha": row.landed_sha,
                "headSha": landed.expected_head if landed else "",
                "baseRef": row.base_ref,
                "method": landed.method if landed else "",
                "actor": landed.actor if landed else "",
            },
        },
    )

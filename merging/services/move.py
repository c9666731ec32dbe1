"""The one way in which the merge flow moves, with everything that belongs to an edge in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import transaction

from convergence.models import PullRequestGeneration
from convergence.services.escalations import escalation_end, escalation_open
from convergence.services.move import pull_show
from convergence.services.submit import pull_resubmit
from merging.flow import AGENT_STATES, MERGE_MACHINE, MergeState
from merging.forms import merge_form
from merging.models import MergeFlow
from merging.services.announce import landing_announce
from merging.services.dependencies import dependents_wake
from merging.services.entries import entry_of
from merging.services.lanes import lane_checked, neighbours_wake
from runs.flows.looks import flow_wake
from runs.flows.move import Effect, Move, flow_actor, flow_move
from runs.models import Run
from runs.queue.cancel import run_cancel
from runs.queue.enqueue import run_enqueue
from runs.queue.flow_steps import StepRequest, flow_step_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from convergence.models import PullRequest
    from convergence.texts import Question
    from runs.machine import Edge
    from runs.models.transition import TransitionLog

S = MergeState
CANCEL_CODES = {  # why the run of an agent state that is left is cancelled, by edge
    "merged_elsewhere": "subject_ended",
    "closed_elsewhere": "subject_ended",
    "cancelled": "flow_cancelled",
    "agent_sla_passed": "agent_sla",
}
MERGE_ESCALATION = "merge_escalation"
BASE_BUSY = "base_busy"
ANSWERED_EDGES = frozenset({"answered", "answered_abandon", "answered_approve", "answered_drop", "answered_look_again"})


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
    run: Callable[[int], StepRequest] | None = None  # the request of a run, from the entry that asks for it
    outcome: str = ""


def merge_move(
    row: MergeFlow, edge: Edge, *, pull: PullRequest, actor: str, now: datetime, step: Step
) -> TransitionLog:
    """Take the edge in a transaction of its own or the caller's, or raise ``Refused`` and change nothing.

    Compare-and-set on the row; then the run of a step that is left is cancelled, the open question ended, a new one
    asked, the pull request's state shown, the merge announced, the next run enqueued or the next generation begun.
    ``Refused`` lane_ahead: a neighbour of its lane was faster. ``IntegrityError``: another flow of the same base was.
    """
    left, base = row.state, (row.repository_id, row.base_ref)
    entry = entry_of(row, edge.target, now)
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
        if edge.target == S.MERGING:
            lane_checked(pull)
        log = flow_move(row, move, actor=actor, now=now)
        if left in AGENT_STATES:
            _step_run_cancel(row, code=CANCEL_CODES.get(edge.name, "flow_moved_on"), actor=actor)
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
            landing_announce(row, pull, now)
        if step.run is not None:
            _run_start(row, pull, step.run(log.pk))
        neighbours_wake(pull)
    return log


def _generation_ended(row: MergeFlow, outcome: str) -> None:
    PullRequestGeneration.objects.filter(pull_id=row.pull_id, number=row.generation).update(outcome=outcome[:200])


def _step_run_cancel(row: MergeFlow, *, code: str, actor: str) -> None:
    """Cancel the run of an agent state that is left, unless it is at rest; people cancel as themselves."""
    run = Run.objects.filter(run_id=row.run_id).first() if row.run_id else None
    if run is None or run.is_at_rest:
        return
    who = actor if actor.startswith("operator:") else flow_actor(MERGE_MACHINE, row.subject)
    run_cancel(run=run, code=code, actor=who)


def _run_start(row: MergeFlow, pull: PullRequest, request: StepRequest) -> None:
    spec = flow_step_spec(request)
    enqueued = run_enqueue(spec=spec, actor=flow_actor(MERGE_MACHINE, row.subject), subject_label=pull.key)
    row.run_id = enqueued.run.run_id
    MergeFlow.rows().filter(pk=row.pk).update(run_id=row.run_id)

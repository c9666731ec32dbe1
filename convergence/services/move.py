"""The one way in which the convergence flow moves, with everything that belongs to an edge in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.flow import CONVERGENCE_MACHINE, ConvergenceState
from convergence.forms import answer_form
from convergence.models import ConvergenceFlow, PullRequest, PullRequestGeneration
from convergence.services.escalations import REVIEW_ANSWER, escalation_end, escalation_open
from runs.flows.move import Effect, Move, flow_actor, flow_move
from runs.flows.registry import successor
from runs.models import Run
from runs.queue.cancel import run_cancel
from runs.queue.enqueue import run_enqueue
from runs.queue.flow_steps import StepRequest, flow_step_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from convergence.texts import Question
    from runs.machine import Edge
    from runs.models.transition import TransitionLog

S = ConvergenceState
ANSWERED_EDGES = frozenset({"answered", "answered_abandon", "answered_waive"})
AGENT_STEPS = frozenset({S.REVIEW_ROUND, S.SCOPE_CHECK})
CANCEL_CODES = {  # why the run of a step that is left is cancelled, by edge
    "merged_elsewhere": "subject_ended",
    "closed_elsewhere": "subject_ended",
    "cancelled": "flow_cancelled",
    "agent_sla_passed": "agent_sla",
    "answer_reverted": "answer_reverted",
    "scope_passed": "agent_sla",  # only an unfinished check is cancelled, and it is left unfinished only then
}
REVIEW_ONLY = "converged, review only"  # judged once: a later change of the setting starts no merge
OUTCOMES = {
    "merged_elsewhere": "merged",
    "closed_elsewhere": "closed",
    "gate_passed": "converged",
    "scope_passed": "converged",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What an edge brings along: columns, effects, due dates, the question it asks, the run it starts, its outcome.

    ``run`` makes the request from the entry, the id of the log row that entered the step.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    due_at: datetime | None = None
    timer_at: datetime | None = None
    guards: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    question: Question | None = None
    run: Callable[[int], StepRequest] | None = None
    outcome: str = ""


def pull_show(pull: PullRequest, state: str, now: datetime) -> None:
    """Write what the pull request shows, with the flow row that drives it; the only writer of ``PullRequest.state``."""
    PullRequest.objects.filter(pk=pull.pk).update(state=state, updated_at=now)
    pull.state, pull.updated_at = state, now


def convergence_move(
    row: ConvergenceFlow, edge: Edge, *, pull: PullRequest, actor: str, now: datetime, step: Step
) -> TransitionLog:
    """Take the edge in the caller's transaction, or raise ``Refused`` and change nothing.

    Compare-and-set on the row; then the run of a step that is left is cancelled, the open question ended, a new one
    asked, the pull request's state shown, the next run enqueued and the successor started.
    """
    left = row.state
    move = Move(
        edge=edge,
        columns={"relooks": 0, **step.columns},
        effects=step.effects,
        due_at=step.due_at,
        timer_at=step.timer_at,
        guards={"round": row.round, "turn": row.turn, **step.guards},
        note=step.note,
    )
    log = flow_move(row, move, actor=actor, now=now)
    if left in AGENT_STEPS:
        step_run_cancel(row, code=CANCEL_CODES.get(edge.name, "flow_moved_on"), actor=actor)
    if left == S.AWAIT_ANSWER:
        escalation_end(pull, answered=edge.name in ANSWERED_EDGES, reason=edge.name.replace("_", " "), now=now)
    if step.question is not None:
        escalation_open(
            pull=pull,
            row=row,
            round_number=row.round,
            question=step.question,
            form=answer_form(step.question),
            task_kind=REVIEW_ANSWER,
            now=now,
        )
    pull_show(pull, CONVERGENCE_MACHINE.states[edge.target].shows, now)
    if step.run is not None:
        _run_start(row, pull, step.run(log.pk))
    if edge.target in CONVERGENCE_MACHINE.terminal:
        _ended(row, edge, pull, now=now, outcome=step.outcome)
    return log


def step_run_cancel(row: ConvergenceFlow, *, code: str, actor: str) -> None:
    """Cancel the run of the row's step unless it is at rest; people cancel as themselves, looks as the flow."""
    run = Run.objects.filter(run_id=row.run_id).first() if row.run_id else None
    if run is None or run.is_at_rest:
        return
    who = actor if actor.startswith("operator:") else flow_actor(CONVERGENCE_MACHINE, row.subject)
    run_cancel(run=run, code=code, actor=who)


def _run_start(row: ConvergenceFlow, pull: PullRequest, request: StepRequest) -> None:
    enqueued = run_enqueue(
        spec=flow_step_spec(request), actor=flow_actor(CONVERGENCE_MACHINE, row.subject), subject_label=pull.key
    )
    row.run_id = enqueued.run.run_id
    ConvergenceFlow.rows().filter(pk=row.pk).update(run_id=row.run_id)


def _ended(row: ConvergenceFlow, edge: Edge, pull: PullRequest, *, now: datetime, outcome: str) -> None:
    generation = PullRequestGeneration.objects.get(pull=pull, number=row.generation)
    to_be_merged = generation.auto_merge and settings.FACTORY.auto_merge
    review_only = "hand_over" in edge.effects and not to_be_merged
    generation.outcome = (outcome or (REVIEW_ONLY if review_only else OUTCOMES.get(edge.name, edge.name)))[:200]
    generation.save(update_fields=["outcome"])
    if "hand_over" in edge.effects and to_be_merged:
        successor(CONVERGENCE_MACHINE.name, row, actor=flow_actor(CONVERGENCE_MACHINE, row.subject), now=now)

"""What each edge of a look brings along: the columns, the effect, the attempt's row, the question."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from convergence.forge.singles import get_pull
from convergence.services.identity import missing_forgotten
from merging.cases import asked_dependencies, case_of
from merging.decisions.timing import retry_pause
from merging.facts import RETURNS_QUESTION, Facts, Reason
from merging.flow import MergeState
from merging.services.attempts import (
    attempt_end,
    attempt_explains,
    attempt_note,
    attempt_on_wire,
    refusal_confirmed,
)
from merging.services.dependencies import dependency_drop
from merging.services.move import Step
from merging.texts import merge_question
from runs.contract.errors import FactoryError, NotFound
from runs.flows.move import Effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.models import Escalation
    from merging.looks.scene import Scene
    from runs.machine import Edge

VERDICT_COLUMNS = (
    "verdict",
    "verdict_reason",
    "verdict_head",
    "verdict_base_sha",
    "verdict_inputs",
    "verdict_at",
)
TIMER_EDGES = frozenset(
    {
        "stall_probed",
        "stall_probed_again",
        "stalled",
        "landing_unverified",
        "merge_outcome_lost",
        "merge_outcome_lost_too_often",
    }
)
COUNTED_EDGES = frozenset(
    {"refusal_counted", "refused_too_often", "merge_outcome_lost", "merge_outcome_lost_too_often"}
)


@dataclass(frozen=True, slots=True)
class Taken:
    """The step of an edge, what else is written in its transaction, and who takes it."""

    step: Step
    actor: str
    also: Callable[[], object] = lambda: None


def taken(edge: Edge, scene: Scene, facts: Facts) -> Taken:
    """Return everything that belongs to the edge; reads the forge only for who merged elsewhere."""
    row = scene.row
    for name in VERDICT_COLUMNS:  # the question and the log speak of the verdict of this look
        if name in scene.columns:
            setattr(row, name, scene.columns[name])
    columns = {name: scene.columns[name] for name in VERDICT_COLUMNS if name in scene.columns}
    if edge.target == MergeState.REPOLLING and "stall_mark" in scene.columns:
        columns["stall_mark"] = scene.columns["stall_mark"]
    columns |= _columns(edge, scene, facts)
    named = asked_dependencies(scene.pull, edge.reason)
    question = None
    if edge.reason:
        case = case_of(row, scene.pull, scene.read, protocol=scene.protocol, dependencies=named)
        question = merge_question(edge.reason, case)
    return Taken(
        step=Step(
            columns=columns,
            effects=_effects(edge, scene),
            due_at=columns.get("retry_at"),
            guards=_guards(edge, scene),
            note=_note(edge, facts),
            question=question,
            dependencies=named,
            outcome=_outcome(edge, scene, facts),
        ),
        actor=_actor(edge, scene),
        also=_also(edge, scene),
    )


def _columns(edge: Edge, scene: Scene, facts: Facts) -> dict[str, Any]:
    _row, read = scene.row, scene.read
    columns: dict[str, Any] = {}
    if read is not None and edge.name not in {"merged_elsewhere", "closed_elsewhere"}:
        columns["base_ref"] = read.base_ref
    if edge.name in COUNTED_EDGES:
        columns |= {"merge_retries": facts.retries, "refused_head": "", "retry_at": None}
        if edge.target == MergeState.WAITING_MERGE:
            columns["retry_at"] = scene.now + retry_pause(facts.retries)
    if edge.name in {"answered", "answered_drop"}:
        columns |= {"merge_retries": 0, "refused_head": "", "retry_at": None}
        if facts.question == RETURNS_QUESTION:  # a person allows one more
            columns["returns"] = 0
    if edge.target == MergeState.MERGED and read is not None:
        columns["landed_sha"] = read.merge_commit_sha
    return columns


def _effects(edge: Edge, scene: Scene) -> tuple[Effect, ...]:
    if "merge" not in edge.effects or scene.read is None:
        return ()
    return (Effect("merge", {"head": scene.read.head_sha, "base": scene.read.base_ref}),)


def _also(edge: Edge, scene: Scene) -> Callable[[], object]:
    row, read, now = scene.row, scene.read, scene.now
    if edge.name == "merged_elsewhere" and read is not None:
        return partial(_explain_merge, scene, _merged_by(scene))
    if edge.name == "closed_elsewhere" and read is not None:
        return partial(_close_attempt, scene)
    if edge.name in {"refusal_counted", "refused_too_often"}:
        return partial(refusal_confirmed, row)
    if edge.name in {"merge_outcome_lost", "merge_outcome_lost_too_often"}:
        return partial(_lost, scene)
    if edge.name == "answered" and scene.escalation is not None and scene.escalation.reason == "unreachable":
        return partial(missing_forgotten, scene.pull)
    if edge.name == "answered_drop" and scene.escalation is not None:
        return partial(_drop, scene, scene.escalation)
    if edge.target == MergeState.MERGED and read is not None:
        return partial(row.attempts.filter(outcome="merged").update, landed_sha=read.merge_commit_sha or "", at=now)
    return lambda: None


def _drop(scene: Scene, asked: Escalation) -> None:
    """Drop what the person chose; what is no longer a dependency needs no dropping."""
    task = asked.task
    reason = str(task.variables.get("answer", "")).strip() or f"answer to task {task.pk}"
    with suppress(NotFound):
        dependency_drop(scene.pull, str(task.variables.get("dependency", "")), actor=task.answered_by, reason=reason)


def _explain_merge(scene: Scene, merged_by: str) -> None:
    """An own call explains the merge, else somebody else merged it."""
    read = scene.read
    assert read is not None  # noqa: S101  # the caller checked
    landed = read.merge_commit_sha or ""
    if not attempt_explains(scene.row, head=read.head_ref_oid, landed_sha=landed, now=scene.now):
        attempt_note(
            scene.row,
            Reason.MERGED_ELSEWHERE,
            head=read.head_ref_oid,
            now=scene.now,
            landed_sha=landed,
            actor=merged_by,
        )


def _merged_by(scene: Scene) -> str:
    """The login that merged; blank when it cannot be read, which keeps nothing from going on."""
    repository = scene.pull.repository
    try:
        return get_pull(scene.client, repository.owner, repository.name, scene.pull.number).merged_by or ""
    except FactoryError:
        return ""


def _close_attempt(scene: Scene) -> None:
    read = scene.read
    assert read is not None  # noqa: S101  # the caller checked
    sent = attempt_on_wire(scene.row)
    if sent is not None:
        attempt_end(sent, Reason.CLOSED, now=scene.now)
    else:
        attempt_note(scene.row, Reason.CLOSED, head=read.head_ref_oid, now=scene.now)


def _lost(scene: Scene) -> None:
    sent = attempt_on_wire(scene.row)
    message = "the call ended without an outcome; read back: not merged"
    if sent is not None:
        attempt_end(sent, Reason.TRANSIENT, now=scene.now, message=message)
    else:
        attempt_note(scene.row, Reason.TRANSIENT, head=scene.row.verdict_head, now=scene.now, message=message)


def _guards(edge: Edge, scene: Scene) -> dict[str, Any]:
    found: dict[str, Any] = {"stalls": scene.row.stalls, "retries": scene.row.merge_retries}
    if scene.found is not None:
        found |= {"reason": scene.found.reason}
    if edge.name in {"returned", "returned_too_often"}:
        found |= {"returns": scene.row.returns, "seen_head": scene.head}
    return found


def _note(edge: Edge, facts: Facts) -> str:
    if edge.name in {"returned", "returned_too_often"}:
        return "head_moved" if facts.foreign_head else "changes_requested"
    return ""


def _outcome(edge: Edge, scene: Scene, facts: Facts) -> str:
    if edge.name == "closed_elsewhere":
        return "closed"
    if edge.name == "answered_abandon" and scene.escalation is not None:
        return f"abandoned by {scene.escalation.task.answered_by.removeprefix('operator:')}"
    if edge.target == MergeState.RETURNED:
        return f"returned: {_note(edge, facts)}"
    return ""


def _actor(edge: Edge, scene: Scene) -> str:
    if edge.name.startswith("answered") and scene.escalation is not None:
        return scene.escalation.task.answered_by
    return "timer" if edge.name in TIMER_EDGES else "poller"

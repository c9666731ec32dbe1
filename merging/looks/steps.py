"""What each edge of a look brings along: the columns, the effects, the run, the question, and who takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merging.cases import asked_dependencies, case_of
from merging.decisions.timing import retry_pause
from merging.facts import RETURNS_QUESTION, Facts, Reason
from merging.flow import MergeState
from merging.looks.beside import also_of
from merging.looks.repairs import agent_columns, repair_effects, repair_run
from merging.services.move import Step
from merging.texts import merge_question
from runs.flows.move import Effect

if TYPE_CHECKING:
    from collections.abc import Callable

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
        "stall_rebased",
        "stall_probed_again",
        "stalled",
        "agent_sla_passed",
        "queue_stalled",
        "branch_update_lost",
        "landing_unverified",
        "merge_outcome_lost",
        "merge_outcome_lost_too_often",
    }
)
COUNTED_EDGES = frozenset(
    {
        "refusal_counted",
        "refused_too_often",
        "branch_update_begun",
        "branch_updates_spent",
        "merge_outcome_lost",
        "merge_outcome_lost_too_often",
    }
)
RETURN_EDGES = frozenset({"returned", "returned_too_often"})
EVICTED_EDGES = frozenset({"evicted", "evicted_too_often"})
RETRIES_OF = {  # which budgets of repairs an answered question sets back
    "checks_failing": ("ci_fixes",),
    "agent_question": ("ci_fixes", "rebases"),
    "agent_sla": ("ci_fixes", "rebases"),
    "conflict": ("rebases",),
    "stalled": ("rebases",),
}


@dataclass(frozen=True, slots=True)
class Taken:
    """The step of an edge, what else is written in its transaction, and who takes it."""

    step: Step
    actor: str
    also: Callable[[], object] = lambda: None


def taken(edge: Edge, scene: Scene, facts: Facts) -> Taken:
    """Return everything that belongs to the edge; reads the forge for who merged elsewhere, and for logs of checks."""
    row = scene.row
    for name in VERDICT_COLUMNS:  # the question and the log speak of the verdict of this look
        if name in scene.columns:
            setattr(row, name, scene.columns[name])
    columns = {name: scene.columns[name] for name in VERDICT_COLUMNS if name in scene.columns}
    if edge.target == MergeState.REPOLLING and "stall_mark" in scene.columns:
        columns["stall_mark"] = scene.columns["stall_mark"]
    columns |= _columns(edge, scene, facts) | agent_columns(edge, scene)
    named = asked_dependencies(scene.pull, edge.reason)
    question = None
    if edge.reason:
        asked = scene.agent.question if scene.agent else row.agent_question
        case = case_of(row, scene.pull, scene.read, protocol=scene.protocol, dependencies=named, asked=asked)
        question = merge_question(edge.reason, case)
    return Taken(
        step=Step(
            columns=columns,
            effects=_effects(edge, scene),
            due_at=columns.get("retry_at"),
            guards=_guards(edge, scene),
            note=_note(edge, scene, facts),
            question=question,
            dependencies=named,
            run=repair_run(edge, scene),
            outcome=_outcome(edge, scene, facts),
        ),
        actor=_actor(edge, scene),
        also=also_of(edge, scene, facts),
    )


def _columns(edge: Edge, scene: Scene, facts: Facts) -> dict[str, Any]:
    read = scene.read
    columns: dict[str, Any] = {}
    if read is not None and edge.name not in {"merged_elsewhere", "closed_elsewhere"}:
        columns["base_ref"] = read.base_ref
    if edge.name in COUNTED_EDGES:
        columns |= {"merge_retries": facts.retries, "refused_head": "", "retry_at": None}
        if edge.target == MergeState.WAITING_MERGE:
            columns["retry_at"] = scene.now + retry_pause(facts.retries)
    if facts.eviction is not None:
        columns |= _out_of_queue(edge, scene, facts)
    if edge.name == "queue_entered":
        columns |= {"queue_seen": True, "queue_position": None}
    if edge.name == "answered":
        columns |= _answered(scene, facts)
    if edge.name == "answered_approve":
        columns["approved_head"] = scene.row.asked_head
    if edge.target == MergeState.MERGED and read is not None:
        columns["landed_sha"] = read.merge_commit_sha
    return columns


def _out_of_queue(edge: Edge, scene: Scene, facts: Facts) -> dict[str, Any]:
    """The removal is taken note of, and counted unless somebody meant it; checks that failed there are kept in mind."""
    columns: dict[str, Any] = {"queue_removal": scene.removal.node_id} if scene.removal else {}
    if edge.name in EVICTED_EDGES:
        columns["evictions"] = facts.evictions
    if facts.eviction is Reason.QUEUE_CHECKS:
        tested = scene.removal.before_sha if scene.removal else ""
        columns |= {"queue_failed_head": scene.head or "", "queue_failed_sha": tested or ""}
    return columns


def _answered(scene: Scene, facts: Facts) -> dict[str, Any]:
    """A retry sets budgets back, and its words go to the next agent."""
    asked = scene.escalation
    columns: dict[str, Any] = {
        "merge_retries": 0,
        "evictions": 0,
        "refused_head": "",
        "retry_at": None,
        "queue_failed_head": "",
        **dict.fromkeys(RETRIES_OF.get(facts.question, ()), 0),
    }
    if facts.question == RETURNS_QUESTION:  # a person allows one more, also where none is automatic
        columns |= {"returns": 0, "return_max": max(scene.row.return_max, 1)}
    if asked is not None:
        columns |= {"answer": str(asked.task.variables.get("answer", "")), "answer_question": asked.text}
    return columns


def _effects(edge: Edge, scene: Scene) -> tuple[Effect, ...]:
    if scene.read is None:
        return ()
    if edge.name == "merge_begun":
        return (Effect("merge", {"head": scene.read.head_sha, "base": scene.read.base_ref}),)
    if edge.name == "taken_back":
        return (Effect("dequeue"),)
    if edge.name == "branch_update_begun":
        return (Effect("update_branch", {"head": scene.read.head_sha}),)
    if edge.target == MergeState.MERGED:
        return (Effect("delete_branch", {"branch": scene.read.head_ref, "head": scene.read.head_ref_oid}),)
    return repair_effects(edge, scene)


def _guards(edge: Edge, scene: Scene) -> dict[str, Any]:
    row = scene.row
    found: dict[str, Any] = {"stalls": row.stalls, "retries": row.merge_retries}
    if scene.found is not None:
        found |= {"reason": scene.found.reason}
    if edge.name in RETURN_EDGES:
        found |= {"returns": row.returns, "seen_head": scene.head}
    if scene.agent is not None:
        found |= {"run": row.run_id, "status": scene.agent.status, "pushed": scene.agent.pushed}
    return found


def _note(edge: Edge, scene: Scene, facts: Facts) -> str:
    if edge.name in {*RETURN_EDGES, "taken_back"}:
        return "head_moved" if facts.foreign_head else "changes_requested"
    if edge.name in {*EVICTED_EDGES, "dequeued"}:
        said = scene.removal.reason if scene.removal else ""
        return f"{facts.eviction}: {said or 'no reason given'}"
    return scene.agent.summary if scene.agent else ""


def _outcome(edge: Edge, scene: Scene, facts: Facts) -> str:
    if edge.name == "closed_elsewhere":
        return "closed"
    if edge.name == "answered_abandon" and scene.escalation is not None:
        word = "rejected" if facts.answer == "reject" else "abandoned"
        return f"{word} by {scene.escalation.task.answered_by.removeprefix('operator:')}"
    if edge.target == MergeState.RETURNED:
        return f"returned: {_note(edge, scene, facts)}"
    return ""


def _actor(edge: Edge, scene: Scene) -> str:
    if edge.name.startswith("answered") and scene.escalation is not None:
        return scene.escalation.task.answered_by
    return "timer" if edge.name in TIMER_EDGES else "poller"

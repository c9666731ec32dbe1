"""What the edges to and from repairing agents and remedies bring along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merging.decisions.agent_result import REATTEMPT
from merging.decisions.mergeability import failing_checks
from merging.flow import AGENT_STATES, MergeState
from merging.looks.failing import failing_documents
from merging.requests import fix_ci_request, rebase_request
from runs.flows.move import Effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from merging.looks.scene import Scene
    from runs.machine import Edge
    from runs.queue.flow_steps import StepRequest


def repair_run(edge: Edge, scene: Scene) -> Callable[[int], StepRequest] | None:
    """The run that the edge starts; reads the logs of failing checks for it. None: it starts none."""
    row, pull, read = scene.row, scene.pull, scene.read
    if read is None or edge.target not in AGENT_STATES:
        return None
    if edge.target == MergeState.REBASING:
        return rebase_request(row, pull, read)
    return fix_ci_request(row, pull, read, protocol=scene.protocol, failing=failing_documents(scene))


def repair_effects(edge: Edge, scene: Scene) -> tuple[Effect, ...]:
    """The remedies that the edge asks for, one effect each."""
    if edge.name == "fresh_run_begun" and scene.due.fresh is not None:
        return (Effect("fresh_run", {"kind": str(scene.due.fresh), "head": scene.head}),)
    if edge.name == "checks_rerun":
        return tuple(Effect("rerun_checks", {"run": run, "head": scene.head}) for run in scene.due.runs)
    return ()


def agent_columns(edge: Edge, scene: Scene) -> dict[str, Any]:
    """The columns of a run that begins, and of one that ended."""
    row = scene.row
    if edge.target in AGENT_STATES:
        return _begun(edge, scene)
    if not AGENT_STATES_LEFT & {edge.name}:
        return {}
    answer = scene.agent
    columns: dict[str, Any] = {"queue_failed_head": ""}
    if answer is None:
        return columns
    if answer.pushed:
        columns["pushed_at"] = scene.now
    if edge.name == "agent_blocked_unproven":  # not armed: one free look at what is true
        columns |= {
            "reconciled": True,
            "blocked_head": row.pushed_from,
            "agent_question": answer.question,
            "stalls": row.stalls,
            "queue_failed_head": row.queue_failed_head,
        }
    if edge.name == "agent_ended":
        columns["reattempt_head"] = row.pushed_from if answer.status == REATTEMPT else ""
    return columns


AGENT_STATES_LEFT = frozenset({"agent_blocked_unproven", "agent_asked", "agent_waits_on_pull", "agent_ended"})


def _begun(edge: Edge, scene: Scene) -> dict[str, Any]:
    """One more round, with the head that it begins at; the person's answer has been handed over."""
    row = scene.row
    columns: dict[str, Any] = {
        "pushed_from": scene.head or "",
        "pushed_at": None,
        "answer": "",
        "answer_question": "",
    }
    if edge.target == MergeState.REBASING:
        return columns | {"rebases": row.rebases + 1}
    failing = failing_checks(scene.merge.checks, scene.protocol) if scene.merge else ()
    return columns | {"ci_fixes": row.ci_fixes + 1, "failed_runs": [each.run_id for each in failing if each.run_id]}

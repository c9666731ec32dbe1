"""What an edge writes beside the row of the flow, in its transaction: attempts, dependencies, remedies, own heads."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from convergence.forge.singles import get_pull
from convergence.services.identity import missing_forgotten
from merging.decisions.remedies import Remedy
from merging.facts import Facts, Reason
from merging.flow import MergeState
from merging.looks.repairs import AGENT_STATES_LEFT
from merging.models import MergeRemedy, OwnHead
from merging.services.attempts import (
    attempt_end,
    attempt_explains,
    attempt_note,
    attempt_on_wire,
    refusal_confirmed,
)
from merging.services.dependencies import dependencies_discovered, dependency_drop
from runs.contract.errors import FactoryError, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.forge.facts import PullFacts
    from merging.looks.scene import Scene
    from runs.machine import Edge


def also_of(edge: Edge, scene: Scene, facts: Facts) -> Callable[[], object]:
    """What the edge writes beside its row; who merged elsewhere is read here, before the transaction."""
    row, read, now = scene.row, scene.read, scene.now
    if edge.name == "merged_elsewhere" and read is not None:
        return partial(_explain_merge, scene, read, _merged_by(scene))
    if edge.name == "closed_elsewhere" and read is not None:
        return partial(_close_attempt, scene, read)
    if facts.eviction is not None:
        return partial(_evicted, scene, facts.eviction)
    if edge.target == MergeState.MERGED and read is not None:
        return partial(row.attempts.filter(outcome="merged").update, landed_sha=read.merge_commit_sha or "", at=now)
    write = _WRITES.get(edge.name)
    return partial(write, edge, scene) if write else lambda: None


def _agent_left(edge: Edge, scene: Scene) -> None:
    """The head that the worker read after the agent's push is own; what the agent waits for is waited for."""
    row, answer = scene.row, scene.agent
    if answer is None:
        return
    if answer.pushed and answer.head:
        OwnHead.objects.get_or_create(flow=row, sha=answer.head, defaults={"source": row.run_id})
    if edge.name == "agent_waits_on_pull":
        dependencies_discovered(scene.pull, scene.references, run_id=row.run_id, now=scene.now)


def _remedies(_edge: Edge, scene: Scene) -> None:
    head, due = scene.head or "", scene.due
    if due.fresh is not None:
        MergeRemedy.objects.get_or_create(
            flow=scene.row, kind=due.fresh, head=head, target="", defaults={"asked_at": scene.now}
        )
        return
    for run in due.runs:
        MergeRemedy.objects.get_or_create(
            flow=scene.row, kind=Remedy.RERUN, head=head, target=run, defaults={"asked_at": scene.now}
        )


def _evicted(scene: Scene, reason: Reason) -> None:
    said = (scene.removal.reason if scene.removal else "") or ""
    who = (scene.removal.actor if scene.removal else "") or ""
    attempt_note(scene.row, reason, head=scene.head or "", now=scene.now, message=said, actor=who)


def _refusal(_edge: Edge, scene: Scene) -> None:
    refusal_confirmed(scene.row)


def _answered(_edge: Edge, scene: Scene) -> None:
    if scene.escalation is not None and scene.escalation.reason == "unreachable":
        missing_forgotten(scene.pull)


def _drop(_edge: Edge, scene: Scene) -> None:
    """Drop what the person chose; what is no longer a dependency needs no dropping."""
    if scene.escalation is None:
        return
    task = scene.escalation.task
    reason = str(task.variables.get("answer", "")).strip() or f"answer to task {task.pk}"
    with suppress(NotFound):
        dependency_drop(scene.pull, str(task.variables.get("dependency", "")), actor=task.answered_by, reason=reason)


def _explain_merge(scene: Scene, read: PullFacts, merged_by: str) -> None:
    """An own call explains the merge, else somebody else merged it."""
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


def _close_attempt(scene: Scene, read: PullFacts) -> None:
    sent = attempt_on_wire(scene.row)
    if sent is not None:
        attempt_end(sent, Reason.CLOSED, now=scene.now)
    else:
        attempt_note(scene.row, Reason.CLOSED, head=read.head_ref_oid, now=scene.now)


def _lost(_edge: Edge, scene: Scene) -> None:
    sent = attempt_on_wire(scene.row)
    message = "the call ended without an outcome; read back: not merged"
    if sent is not None:
        attempt_end(sent, Reason.TRANSIENT, now=scene.now, message=message)
    else:
        attempt_note(scene.row, Reason.TRANSIENT, head=scene.row.verdict_head, now=scene.now, message=message)


_WRITES: dict[str, Callable[[Edge, Scene], None]] = {
    "refusal_counted": _refusal,
    "refused_too_often": _refusal,
    "merge_outcome_lost": _lost,
    "merge_outcome_lost_too_often": _lost,
    "fresh_run_begun": _remedies,
    "checks_rerun": _remedies,
    **dict.fromkeys(sorted(AGENT_STATES_LEFT), _agent_left),
    "answered": _answered,
    "answered_drop": _drop,
}

"""The facts of one look that the guards of the table decide on; each state adds its own to what all share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.facts import PullState
from convergence.forge.singles import compare
from convergence.services.identity import pull_gone
from merging.base import base_is_busy, base_is_dead_end
from merging.decisions.dependencies import CYCLE, Standing
from merging.decisions.heads import changes_were_requested, head_is_foreign
from merging.facts import LANDING_QUESTION, Facts, Verdict
from merging.flow import DEPENDENCY_STATES, READY_STATES, MergeState
from merging.looks.answers import answer_facts
from merging.looks.scene import classify
from merging.looks.stall import stall_facts
from merging.selectors.dependencies import dependencies_of
from runs.models.outbox import Outbox
from runs.outbox.dispatch import PENDING

if TYPE_CHECKING:
    from convergence.forge.facts import PullFacts
    from merging.looks.scene import Scene
    from merging.models import MergeFlow

S = MergeState
PROVEN = frozenset({"identical", "ahead"})  # how the base may stand to a landed commit that it contains


def facts_of(scene: Scene) -> Facts:
    """Return the facts of the look; reads more of the forge where the state asks for it."""
    row, read = scene.row, scene.open
    known: dict[str, Any] = {
        "pull": scene.seen,
        "unreachable": pull_gone(scene.pull, scene.now),
        "returns": row.returns,
        "return_max": row.return_max,
        "stalls": row.stalls,
        "stall_max": row.stall_max,
        "retries": min(row.merge_retries, row.merge_retry_max) + 1,
        "retry_max": row.merge_retry_max,
        "timer_passed": row.timer_at is not None and row.timer_at <= scene.now,
    }
    if row.state in DEPENDENCY_STATES and read is not None:
        known |= _dependency_facts(scene)
    if row.state in {*READY_STATES, S.ESCALATED} and read is not None:
        known |= _merge_facts(scene, read)
    known |= _review_facts(scene)  # of the newest reading: a probe may have shown another head
    if row.state == S.MERGING:
        known["effect_pending"] = effect_pending(row)
    if row.state == S.ESCALATED:
        known |= answer_facts(
            scene,
            dependency_dead=known.get("dependency_dead", False),
            dependency_cyclic=known.get("dependency_cyclic", False),
        )
    if row.state == S.VERIFYING_LANDING or known.get("question") == LANDING_QUESTION:
        known["landed"] = _landed(scene)
    return Facts(**known)


def effect_pending(row: MergeFlow) -> bool:
    """Whether the first effect of the present entry is still to be delivered."""
    return Outbox.objects.filter(PENDING, key=f"{row.machine.name}:{row.generation}:{row.entry_log}:0").exists()


def _dependency_facts(scene: Scene) -> dict[str, Any]:
    rows = dependencies_of(scene.pull)
    waits = any(row.standing != Standing.CLEAR for row in rows)
    return {
        "dependencies_clear": not waits,
        "dependency_waits": waits,
        "dependency_dead": any(row.standing == Standing.DEAD for row in rows),
        "dependency_cyclic": any(row.standing == Standing.WAITING and row.note == CYCLE for row in rows),
    }


def _review_facts(scene: Scene) -> dict[str, Any]:
    read, row, after = scene.open, scene.row, scene.policy.review_after
    if read is None:
        return {}
    own = set(row.own_heads.values_list("sha", flat=True))
    return {
        "foreign_head": head_is_foreign(read.head_sha, own, after),
        "changes_requested": changes_were_requested(read.opinionated_reviews, row.converged_at, after),
    }


def _merge_facts(scene: Scene, read: PullFacts) -> dict[str, Any]:
    """The verdict, and what holds a ready pull request back. Sets the columns of verdict and stall clock."""
    row = scene.row
    classify(scene, read)
    known = {} if row.state == S.ESCALATED else stall_facts(scene)
    assert scene.found is not None  # noqa: S101  # just judged
    known["verdict"] = scene.found.verdict
    if scene.found.verdict is Verdict.READY and row.state in READY_STATES:
        known |= _ready_facts(scene)
    return known


def _ready_facts(scene: Scene) -> dict[str, Any]:
    row, read = scene.row, scene.read
    assert read is not None  # noqa: S101  # the caller judged it
    known: dict[str, Any] = {
        "refused": bool(row.refused_head) and row.refused_head == scene.head,
        "resting": row.retry_at is not None and row.retry_at > scene.now,
        "base_busy": base_is_busy(row, read.base_ref),
    }
    if not any(known.values()):  # read only when it would merge now
        known["dead_end_base"] = base_is_dead_end(scene.client, read)
    return known


def _landed(scene: Scene) -> bool:
    """Whether the commit that the forge names as landed was read as reachable from the base branch."""
    read = scene.read
    if read is None or read.state is not PullState.MERGED or not read.merge_commit_sha:
        return False
    owner, name = read.repository.name_with_owner.split("/", 1)
    return compare(scene.client, owner, name, read.merge_commit_sha, read.base_ref).status in PROVEN

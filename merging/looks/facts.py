"""The facts of one look that the guards of the table decide on; each state adds its own to what all share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.facts import PullState
from convergence.forge.singles import compare
from convergence.guards import PullSeen
from convergence.services.identity import pull_gone
from merging.decisions.dependencies import CYCLE, Standing
from merging.decisions.heads import changes_were_requested, head_is_foreign
from merging.decisions.mergeability import QUEUE, UNCLASSIFIED
from merging.facts import LANDING_QUESTION, Facts, Verdict
from merging.flow import AGENT_STATES, DEPENDENCY_STATES, EFFECT_STATES, READY_STATES, MergeState
from merging.looks.agents import agent_facts
from merging.looks.answers import answer_facts
from merging.looks.queue import queue_facts
from merging.looks.ready import ready_facts
from merging.looks.remedies import is_reopening, remedy_facts
from merging.looks.scene import classify
from merging.looks.stall import stall_facts
from merging.selectors.dependencies import dependencies_of
from merging.selectors.lanes import lane_ahead
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
    if row.state in AGENT_STATES:
        known |= agent_facts(scene)
    if row.state == S.WAITING_LANE:
        known["lane_free"] = not lane_ahead(scene.pull)
    if row.state == S.QUEUED and read is not None:
        known |= queue_facts(scene, read)
    if row.state in {*EFFECT_STATES, S.QUEUED}:
        known["effect_pending"] = effect_pending(row)
    if scene.seen is PullSeen.CLOSED:
        known["reopening"] = is_reopening(row, scene.now)
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
    own = dict(row.own_heads.values_list("sha", "source"))
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
    verdict = known["verdict"] = scene.found.verdict
    if row.state not in READY_STATES:
        return known
    known |= {
        "in_queue": verdict is Verdict.WAITING and scene.found.reason == QUEUE,
        "unclassified": scene.found.reason == UNCLASSIFIED,
        "ci_fixes": row.ci_fixes,
        "ci_fix_max": row.ci_fix_max,
        "rebases": row.rebases,
        "rebase_max": row.rebase_max,
        "reconciled": row.reconciled,
        "blocked_again": bool(row.blocked_head) and row.blocked_head == scene.head,
        "agent_question": bool(row.agent_question),
    }
    return known | (ready_facts(scene) if verdict is Verdict.READY else remedy_facts(scene))


def _landed(scene: Scene) -> bool:
    """Whether the commit that the forge names as landed was read as reachable from the base branch."""
    read = scene.read
    if read is None or read.state is not PullState.MERGED or not read.merge_commit_sha:
        return False
    owner, name = read.repository.name_with_owner.split("/", 1)
    return compare(scene.client, owner, name, read.merge_commit_sha, read.base_ref).status in PROVEN

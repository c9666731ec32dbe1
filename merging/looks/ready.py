"""What still holds a pull request back that is ready to merge."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from convergence.forge.singles import compare
from merging.base import base_is_busy, base_is_dead_end
from merging.models import HoldKind
from merging.selectors.lanes import lane_ahead
from merging.services.holds import hold_kinds
from runs.queue.limits.pauses import pause_over

if TYPE_CHECKING:
    from convergence.forge.facts import PullFacts
    from merging.looks.scene import Scene

UI = "ui"
PAUSED = "paused"
HELD_TRIAL_MERGE = "held_trial_merge"


def ready_facts(scene: Scene) -> dict[str, Any]:
    """The facts of a ready pull request; reads the forge only when it would merge now."""
    row, read = scene.row, scene.read
    assert read is not None  # noqa: S101  # the caller judged it
    holds = hold_kinds(scene.pull)
    pause = pause_over(repository=scene.pull.repository.full_name)
    scene.held = PAUSED if pause else HELD_TRIAL_MERGE if HoldKind.TRIAL_MERGE in holds else ""
    known: dict[str, Any] = {
        "held": bool(scene.held),
        "refused": bool(row.refused_head) and row.refused_head == scene.head,
        "resting": row.retry_at is not None and row.retry_at > scene.now,
        "base_busy": base_is_busy(row, read.base_ref),
    }
    free = not any(known.values())
    known |= {
        "manual_landing": scene.protocol is not None and scene.protocol.land_method == UI,
        "approval_missing": _needs_approval(scene, read) and row.approved_head != scene.head,
        "lane_ahead": bool(lane_ahead(scene.pull)),
    }
    if free:
        known["dead_end_base"] = base_is_dead_end(scene.client, read)
        known["fresh_base_missing"] = HoldKind.FRESH_BASE in holds and _is_behind(scene, read)
    return known


def _needs_approval(scene: Scene, read: PullFacts) -> bool:
    return any(fnmatchcase(read.base_ref, pattern) for pattern in scene.policy.approval_bases)


def _is_behind(scene: Scene, read: PullFacts) -> bool:
    """Whether the head lacks commits of its base; unknown is no reason to update."""
    if not read.base_sha or not read.head_sha:
        return False
    owner, name = read.repository.name_with_owner.split("/", 1)
    return compare(scene.client, owner, name, read.base_sha, read.head_sha).behind_by > 0

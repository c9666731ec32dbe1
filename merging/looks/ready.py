"""What still holds a pull request back that is ready to merge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merging.base import base_is_busy, base_is_dead_end, base_wants_approval, head_is_behind
from merging.models import HoldKind
from merging.selectors.lanes import lane_ahead
from merging.services.holds import hold_kinds
from runs.queue.limits.pauses import pause_over

if TYPE_CHECKING:
    from collections.abc import Collection

    from convergence.models import PullRequest
    from merging.looks.scene import Scene

UI = "ui"
PAUSED = "paused"
HELD_TRIAL_MERGE = "held_trial_merge"


def ready_facts(scene: Scene) -> dict[str, Any]:
    """The facts of a ready pull request; reads the forge only when it would merge now."""
    row, read = scene.row, scene.read
    assert read is not None  # noqa: S101  # the caller judged it
    holds = hold_kinds(scene.pull)
    scene.held = held_by(scene.pull, holds)
    known: dict[str, Any] = {
        "held": bool(scene.held),
        "refused": bool(row.refused_head) and row.refused_head == scene.head,
        "resting": row.retry_at is not None and row.retry_at > scene.now,
        "base_busy": base_is_busy(row, read.base_ref),
    }
    free = not any(known.values())
    known |= {
        "manual_landing": scene.protocol is not None and scene.protocol.land_method == UI,
        "approval_missing": base_wants_approval(scene.policy, read.base_ref) and row.approved_head != scene.head,
        "lane_ahead": bool(lane_ahead(scene.pull)),
    }
    if free:
        known["dead_end_base"] = base_is_dead_end(scene.client, read)
        known["fresh_base_missing"] = HoldKind.FRESH_BASE in holds and head_is_behind(scene.client, read)
    return known


def held_by(pull: PullRequest, holds: Collection[str]) -> str:
    """What of the product's own keeps a ready pull request from merging: a pause, a hold of its plan; else blank."""
    if pause_over(repository=pull.repository.full_name):
        return PAUSED
    return HELD_TRIAL_MERGE if HoldKind.TRIAL_MERGE in holds else ""

"""Where a pull request stands in the forge's merge queue, and why it left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.forge.queue import last_removal
from convergence.forge_access import own_login
from merging.decisions.queue import eviction_reason, has_left

if TYPE_CHECKING:
    from convergence.forge.facts import PullFacts
    from merging.looks.scene import Scene


def queue_facts(scene: Scene, read: PullFacts) -> dict[str, Any]:
    """The facts of the state ``queued``; reads the timeline once the entry is gone."""
    row = scene.row
    seen = row.queue_seen or bool(read.in_merge_queue)
    scene.columns["queue_seen"] = seen
    scene.columns["queue_position"] = read.queue_entry.position if read.queue_entry else None
    dirty = (read.merge_state_status or "").upper() == "DIRTY"
    known: dict[str, Any] = {
        "in_queue": bool(read.in_merge_queue),
        "evictions": min(row.evictions, row.eviction_max) + 1,
        "eviction_max": row.eviction_max,
    }
    if has_left(in_queue=read.in_merge_queue, seen=seen, dirty=dirty):
        event = last_removal(scene.client, read.node_id)
        if event is not None and event.node_id == row.queue_removal:
            event = None  # of an earlier stay
        scene.removal = event
        known["eviction"] = eviction_reason(event, dirty=dirty, own_login=own_login(scene.client))
    return known

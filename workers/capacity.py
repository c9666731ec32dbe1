"""What the kernel is told about live workers and pools, to say why a run waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.contract.placement import offer_of
from runs.queue.waiting import Capacity
from workers.liveness import WorkerState
from workers.selectors.pools import pools_with_room
from workers.selectors.workers import live_workers

if TYPE_CHECKING:
    from collections.abc import Sequence


def capacities() -> Sequence[Capacity]:
    """Every worker that is neither stopped nor lost, and every pool that may start one more; three queries.

    Only an idle worker counts as free.
    """
    workers = [
        Capacity(row.worker_id, offer_of(row.offer), is_busy=row.state is not WorkerState.IDLE, node=row.node)
        for row in live_workers()
    ]
    pools = [
        Capacity(f"pool {row}", offer_of(row.offer), is_busy=True, node=row.node, is_pool=True)
        for row in pools_with_room()
    ]
    return [*workers, *pools]

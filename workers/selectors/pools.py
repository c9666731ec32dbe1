"""Pools with the state of their supervisor, and the workers of each by what they do."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from runs.clock import now
from runs.contract.placement import offer_of
from runs.contract.pool import MOST_CLAIMABLE, SUPERVISOR_DEAD_SECONDS
from runs.queue.claimable import claimable
from workers.liveness import WorkerState
from workers.models import Pool, Worker
from workers.selectors.workers import WorkerRow, worker_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

SUPERVISOR_DEAD = timedelta(seconds=SUPERVISOR_DEAD_SECONDS)
LOST_SHOWN = timedelta(hours=1)  # a worker that fell silent earlier tells nothing about the pool of today
MOST_WORKERS = 1000
SHOWN = (WorkerState.BUSY, WorkerState.IDLE, WorkerState.DRAINING, WorkerState.BLOCKED, WorkerState.LOST)

Key = tuple[str, str]  # node and name


class SupervisorState(StrEnum):
    """Whether somebody looks after the pool, derived from its last report."""

    LIVE = "live"
    STOPPING = "stopping"
    DEAD = "dead"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class PoolRow:
    """One pool. ``workers`` counts those that the registry knows, by state; without a report most is unknown.

    ``claimable``: ready runs that it could lease, at most 100, as last reported; as of now if its supervisor is dead.
    """

    node: str
    name: str
    host: str
    supervisor: SupervisorState
    workers: Mapping[str, int]
    min: int | None = None
    max: int | None = None
    starting: int = 0
    claimable: int | None = None
    action: str = ""
    reason: str = ""
    since: datetime | None = None
    short_since: datetime | None = None
    stuck_since: datetime | None = None
    crashes: int = 0
    last_line: str = ""
    seen_at: datetime | None = None

    @property
    def label(self) -> str:
        """``<pool>@<node>``, as commands and pages call it."""
        return f"{self.name}@{self.node}"

    @property
    def alive(self) -> int:
        """Workers that are not lost."""
        return sum(number for state, number in self.workers.items() if state != WorkerState.LOST)


def supervisor_state(row: Pool, at: datetime) -> SupervisorState:
    """What the last report says at this instant."""
    if at - row.seen_at >= SUPERVISOR_DEAD:
        return SupervisorState.DEAD
    return SupervisorState.STOPPING if row.stopping else SupervisorState.LIVE


def pools() -> list[PoolRow]:
    """Every pool that has reported or has workers, by node and name; three queries, and a probe for each dead one."""
    at = now()
    counted = _workers_by_pool(at)
    known = {(row.node, row.name): _row(row, counted.get((row.node, row.name), {}), at) for row in Pool.objects.all()}
    for (node, name), states in counted.items():
        if (node, name) not in known and any(state != WorkerState.LOST for state in states):
            known[node, name] = PoolRow(node, name, "", SupervisorState.ABSENT, states)
    return [known[key] for key in sorted(known)]


def pools_with_room() -> list[Pool]:
    """The pools that live and may start one more worker; one query."""
    fresh = Pool.objects.filter(seen_at__gt=now() - SUPERVISOR_DEAD, stopping=False)
    return [row for row in fresh if row.counts.get("workers", 0) < row.max]


def _workers_by_pool(at: datetime) -> dict[Key, dict[str, int]]:
    seen = Worker.objects.filter(stopped_at__isnull=True, last_seen_at__gt=at - LOST_SHOWN).exclude(pool="")
    rows = worker_rows(seen.order_by("-id")[:MOST_WORKERS])
    found: dict[Key, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in _without_replaced(rows):
        found[row.node, row.pool][row.state.value] += 1
    return {key: {state.value: states[state] for state in SHOWN if state in states} for key, states in found.items()}


def _without_replaced(rows: Iterable[WorkerRow]) -> list[WorkerRow]:
    """The rows but for lost workers whose slot a later boot has taken."""
    rows = list(rows)
    taken = {(row.node, row.pool, row.slot) for row in rows if row.state is not WorkerState.LOST}
    return [row for row in rows if row.state is not WorkerState.LOST or (row.node, row.pool, row.slot) not in taken]


def _claimable(row: Pool) -> int:
    return claimable(offer_of(row.offer), node=row.node, limit=MOST_CLAIMABLE).count


def _row(row: Pool, workers: Mapping[str, int], at: datetime) -> PoolRow:
    state = supervisor_state(row, at)
    is_dead = state is SupervisorState.DEAD
    reported = row.counts.get("claimable", 0)
    return PoolRow(
        node=row.node,
        name=row.name,
        host=row.host,
        supervisor=state,
        workers=workers,
        min=row.min,
        max=row.max,
        starting=row.counts.get("starting", 0),
        claimable=_claimable(row) if is_dead else reported,
        action=row.action,
        reason=row.reason,
        since=row.decided_at,
        short_since=row.short_since,
        stuck_since=row.stuck_since,
        crashes=row.crashes,
        last_line=row.last_line,
        seen_at=row.seen_at,
    )

"""Checks of pools: whether somebody looks after each, and whether its workers live, suffice and take what waits."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from factory_site.doctor.report import Finding, Level
from runs.flow import RunState
from runs.models import Run
from workers.selectors.pools import SupervisorState, pools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workers.selectors.pools import PoolRow

CRASHES = 5
SHORT_FOR = STUCK_FOR = timedelta(seconds=60)
FULL_FOR = timedelta(minutes=15)
AT_MAX = "at_max"


def pools_wrong(at: datetime) -> list[Finding]:
    """What is wrong with each pool; one read of all of them."""
    rows = pools()
    checks = (supervisor_dead, pool_crash_loop, pool_below_min, idle_not_taking)
    return [found for check in checks for row in rows if (found := check(row, at)) is not None]


def pools_full(at: datetime) -> list[Finding]:
    """Pools that may grow no more while a run has been ready for long."""
    full = [row for row in pools() if row.supervisor is SupervisorState.LIVE and row.reason == AT_MAX]
    oldest = _oldest_ready() if full else None
    if oldest is None or oldest.queued_at is None or at - oldest.queued_at <= FULL_FOR:
        return []
    return [
        _finding("at_max", row, row.since, f"pool {row.label} is full: {row.max} workers", _grow(row)) for row in full
    ]


def supervisor_dead(row: PoolRow, at: datetime) -> Finding | None:
    """Work waits for a pool whose supervisor has fallen silent."""
    del at
    if row.supervisor is not SupervisorState.DEAD or not row.claimable:
        return None
    waits = "waits" if row.claimable == 1 else "wait"
    text = f"the pool {row.label} has no supervisor, and {_runs(row)} {waits} for it"
    return _finding("supervisor_dead", row, row.seen_at, text, f"manage.py supervise --pool {row.name} on {row.node}")


def pool_crash_loop(row: PoolRow, at: datetime) -> Finding | None:
    """One worker after another dies at its start."""
    del at
    if row.crashes < CRASHES:
        return None
    text = f"workers of {row.label} die at start, {row.crashes} in a row: {row.last_line or 'they say nothing'}"
    return _finding("pool_crash_loop", row, row.since, text, f"mend what the line names; manage.py work on {row.node}")


def pool_below_min(row: PoolRow, at: datetime) -> Finding | None:
    """A pool has fewer workers than its minimum for a minute."""
    if row.short_since is None or at - row.short_since <= SHORT_FOR or row.alive >= (row.min or 0):
        return None
    text = f"pool {row.label} has {row.alive} of {row.min} workers"
    return _finding(
        "pool_below_min", row, row.short_since, text, f"manage.py supervise --once --pool {row.name} on {row.node}"
    )


def idle_not_taking(row: PoolRow, at: datetime) -> Finding | None:
    """Idle workers leave runs lying that they could take."""
    if row.stuck_since is None or at - row.stuck_since <= STUCK_FOR or row.supervisor is not SupervisorState.LIVE:
        return None
    oldest = _oldest_ready()
    text = f"{_runs(row)} could be leased by {row.label}, which stays idle"
    mend = f"manage.py runs why {oldest.run_id}" if oldest else "manage.py status"
    return _finding("idle_not_taking", row, row.stuck_since, text, mend)


def _finding(code: str, row: PoolRow, since: datetime | None, text: str, mend: str) -> Finding:
    level = Level.NOTICE if code == "at_max" else Level.ANOMALY
    return Finding(code, 1, since, text, (row.label,), mend, level)


def _grow(row: PoolRow) -> str:
    return f"raise pools.{row.node}.{row.name}.max in policy.yaml, or: manage.py supervise --workers {row.min}:MORE"


def _runs(row: PoolRow) -> str:
    return "1 run" if row.claimable == 1 else f"{row.claimable} runs"


def _oldest_ready() -> Run | None:
    """The ready run that was queued first, of those of the lowest keys."""
    return Run.objects.filter(state=RunState.QUEUED, hold="").order_by("id").first()


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (pools_wrong, pools_full)

"""A pool in one line of text, for terminals and the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.wording.words import ago
from workers.selectors.pools import SupervisorState

if TYPE_CHECKING:
    from datetime import datetime

    from workers.selectors.here import SupervisorHere
    from workers.selectors.pools import PoolRow

ACTIONS = {
    "hold": "holds",
    "spawn": "starts a worker",
    "drain": "lets a worker leave",
    "undrain": "keeps a worker that was leaving",
    "replace": "replaces a silent worker",
}
NAME_WIDTH, SUPERVISOR_WIDTH, WORKERS_WIDTH = 12, 35, 35


def pool_line(row: PoolRow, at: datetime, here: SupervisorHere | None = None) -> str:
    """Name, supervisor, workers of the bounds, and why it is as it is; ``here`` is the supervisor of this machine."""
    pid = here.pid if here is not None and here.runs(row) else None
    workers = f"workers {row.alive}{bounds_text(row)}{_states(row)}"
    last = row.reason or "no report"
    if row.supervisor in {SupervisorState.DEAD, SupervisorState.ABSENT}:
        last = f"{row.claimable} ready for it" if row.claimable is not None else last
    columns = (
        row.label.ljust(NAME_WIDTH),
        supervisor_text(row, at, pid).ljust(SUPERVISOR_WIDTH),
        workers.ljust(WORKERS_WIDTH),
        last,
    )
    return " ".join(columns).rstrip()


def supervisor_text(row: PoolRow, at: datetime, pid: int | None = None) -> str:
    """The supervisor's state, and since when a dead one is silent."""
    if row.supervisor is SupervisorState.DEAD:
        return f"supervisor DEAD, seen {ago(row.seen_at, at)}" if row.seen_at else "supervisor DEAD"
    return f"supervisor {row.supervisor}" + (f" (pid {pid})" if pid else "")


def bounds_text(row: PoolRow) -> str:
    """`` of 1..3``; blank for a pool that never reported."""
    return "" if row.max is None else f" of {row.min}..{row.max}"


def decision_text(row: PoolRow) -> str:
    """The last decision in words with its counts; blank for a pool that never reported."""
    if not row.action:
        return ""
    what = f"{ACTIONS.get(row.action, row.action)}: {row.reason.replace('_', ' ')}"
    return f"{what}, {row.claimable} claimable" if row.claimable else what


def _states(row: PoolRow) -> str:
    parts = [f"{number} {state}" for state, number in row.workers.items()]
    return f" ({', '.join(parts)})" if parts else ""

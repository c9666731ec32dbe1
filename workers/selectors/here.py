"""What the run folder of this machine says of its own supervisor: faster and surer than its last report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workers.host.process.only_one import live_process, read_pid_file
from workers.selectors.pools import PoolRow, SupervisorState

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SupervisorHere:
    """The supervisor that last ran on this data folder; ``pid`` is None when it is gone."""

    node: str
    name: str
    pid: int | None

    def runs(self, row: PoolRow) -> bool:
        """Whether this is the supervisor of that pool."""
        return (self.node, self.name) == (row.node, row.name)


def supervisor_here(home: Path) -> SupervisorHere | None:
    """The supervisor of this data folder by its pid file; None if none ever ran here."""
    path = home / "run" / "supervisor.pid"
    found = read_pid_file(path)
    if not found:
        return None
    process = live_process(path)
    return SupervisorHere(str(found.get("node")), str(found.get("pool")), process.pid if process else None)


def as_seen_here(row: PoolRow, here: SupervisorHere | None) -> PoolRow:
    """The pool, with a supervisor of this machine that is gone called dead before its report has aged."""
    is_gone = here is not None and here.runs(row) and here.pid is None
    return replace(row, supervisor=SupervisorState.DEAD) if is_gone else row

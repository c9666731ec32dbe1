"""Why a run waits, and what each live worker lacks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.placement import missing
from runs.flow import RunState
from runs.queue.placement import class_requirement
from runs.queue.waiting import capacities, run_waiting

if TYPE_CHECKING:
    from runs.models import Run


def run_why(run: Run) -> dict[str, Any]:
    """The waiting reason of the run, and for a queued one every live worker with what it lacks, if anything."""
    workers = capacities()
    waiting = run_waiting(run, workers)
    rows: list[dict[str, Any]] = []
    if run.state == RunState.QUEUED and run.placement_class is not None:
        requirement = class_requirement(run.placement_class)
        rows = [
            {
                "worker": each.worker_id,
                "busy": each.is_busy,
                "lacks": " and ".join(missing(each.offer, requirement)) or None,
            }
            for each in sorted(workers, key=lambda worker: worker.worker_id)
            if not each.is_pool
        ]
    return {
        "runId": run.run_id,
        "state": run.state,
        "waiting": None
        if waiting is None
        else {"code": waiting.code, "text": waiting.text, "since": waiting.since, "until": waiting.until},
        "workers": rows,
    }

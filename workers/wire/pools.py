"""What a supervisor reports of its pool, and the counts that it decides by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

from runs.contract.instants import format_instant
from runs.contract.placement import offer_of
from runs.contract.pool import MOST_CLAIMABLE, PENDING_SECONDS, REPORT_SECONDS
from runs.queue.claimable import blocked_counts, claimable
from workers.liveness import WorkerState
from workers.models import Worker
from workers.selectors.workers import WorkerRow, worker_rows
from workers.services.pools import PoolReport, pool_report
from workers.wire.answers import answer
from workers.wire.boots import offered
from workers.wire.endpoint import endpoint
from workers.wire.policy import pool_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller


@endpoint("POST", body="pool", versioned=True, boot=False)
def pool(request: HttpRequest, caller: Caller, body: Mapping[str, Any]) -> HttpResponseBase:
    """Keep the report and answer with counts of this pool's own workers and of the runs that its offer could lease."""
    del request
    offer = offered(caller, body["offer"])
    listed = {each["workerId"]: each["draining"] for each in body["workers"] if each["workerId"]}
    rows = worker_rows(Worker.objects.filter(node=caller.node, worker_id__in=listed))
    counted = _counted(rows, listed)
    ready = claimable(offer_of(offer), node=caller.node, limit=MOST_CLAIMABLE)
    starting = sum(each["workerId"] is None for each in body["workers"])
    bounds = pool_bounds(caller.node, body["pool"]) or (body["min"], body["max"])
    crashes = body.get("crashes") or {}
    pool_report(
        PoolReport(
            node=caller.node,
            name=body["pool"],
            host=body.get("host", ""),
            version=body["supervisorVersion"],
            min=bounds[0],
            max=bounds[1],
            offer=offer,
            counts={**counted, "workers": len(body["workers"]), "starting": starting, "claimable": ready.count},
            action=body["decision"]["action"],
            reason=body["decision"]["reason"],
            stopping=body["stopping"],
            crashes=crashes.get("inARow", 0),
            last_line=crashes.get("lastLine", ""),
            unkillable=body.get("unkillable", []),
        )
    )
    return answer({
        "nextInMs": round(1000 * (PENDING_SECONDS if starting else REPORT_SECONDS)),
        "livenessSeconds": settings.FACTORY.liveness_seconds,
        "claimable": ready.count,
        "claimableCapped": ready.count >= MOST_CLAIMABLE,
        "blocked": blocked_counts(ready.blocked, limit=MOST_CLAIMABLE),
        **counted,
        "min": bounds[0],
        "max": bounds[1],
        "workers": [_worker_answer(row) for row in rows],
    })  # fmt: skip


def _counted(rows: Iterable[WorkerRow], draining: Mapping[str, bool]) -> dict[str, int]:
    """How many of the rows are idle, busy, draining and lost; a blocked one is none of these.

    A worker that was asked to leave counts as draining from the report on, before it has noticed itself.
    """
    counted = dict.fromkeys(("idle", "busy", "draining", "lost"), 0)
    for row in rows:
        state = row.state
        if state not in {WorkerState.LOST, WorkerState.STOPPED} and (draining[row.worker_id] or row.draining):
            state = WorkerState.DRAINING
        if state.value in counted:
            counted[state.value] += 1
    return counted


def _worker_answer(row: WorkerRow) -> dict[str, Any]:
    return {
        "workerId": row.worker_id,
        "state": row.state.value,
        "runId": row.run_id,
        "lastSeenAt": format_instant(row.last_seen_at),
        "lost": row.state is WorkerState.LOST,
        "heldAttempt": row.attempt is not None,
    }

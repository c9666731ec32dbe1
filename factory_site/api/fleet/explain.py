"""Why a run is where it is, and one worker."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Router

from factory_site.api.errors import responses
from factory_site.api.lists import conditional
from factory_site.api.workers import _row_json as worker_json
from factory_site.console.selectors.workers import placement, worker_page
from factory_site.console.wording.reasons import reason_of
from runs.reading.detail import run_find
from runs.reading.rows import run_row

runs = Router()
workers = Router()


@runs.get("/{run_id}/why", response=responses({200: dict[str, Any]}, 304, 404))
def run_why(request: HttpRequest, run_id: str) -> HttpResponse:
    """Why a run waits, and what each live worker lacks; for any other run, why it is where it is."""
    run = run_find(run_id)
    found = placement(run)
    reason = reason_of(run.reason_code)
    return conditional(
        request,
        {
            "runId": run.run_id,
            "state": run.state,
            "reason": {"code": reason.code, "text": reason.sentence, "step": reason.step or None},
            "waiting": run_row(run)["waiting"],
            "sentence": found.sentence if run.state == "queued" else None,
            "needs": list(found.needs),
            "workers": [
                {"workerId": each.worker_id, "busy": each.is_busy, "missing": each.lacks} for each in found.candidates
            ]
            if run.state == "queued"
            else [],
        },
    )


@workers.get("/{worker_id}", response=responses({200: dict[str, Any]}, 304, 404))
def worker_show(request: HttpRequest, worker_id: str) -> HttpResponse:
    """One boot of a worker with its newest attempts."""
    found = worker_page(worker_id)
    return conditional(
        request,
        {
            **worker_json(found.row),
            "attempts": [
                {
                    "runId": attempt.run.run_id,
                    "attempt": attempt.number,
                    "outcome": attempt.outcome or None,
                    "reasonCode": attempt.reason_code or None,
                    "claimedAt": attempt.claimed_at,
                    "finishedAt": attempt.finished_at,
                }
                for attempt in found.attempts
            ],
        },
    )

"""One worker with what it did."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Router

from factory_site.api.errors import responses
from factory_site.api.fleet.answers import WorkerDetail
from factory_site.api.lists import conditional
from factory_site.api.workers import _row_json as worker_json
from factory_site.console.selectors.workers import worker_page

router = Router(by_alias=True)


@router.get("/{worker_id}", response=responses({200: WorkerDetail}, 304, 404))
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

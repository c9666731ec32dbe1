"""One worker: what it did, and taking its run back."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Router
from pydantic import Field

from factory_site.api.answers import Worker
from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.fleet.answers import WorkerDetail
from factory_site.api.lists import Body, conditional
from factory_site.api.run_answers import RunRow
from factory_site.api.workers import worker_json
from factory_site.console.selectors.workers import worker_page
from runs.models import Role
from runs.reading.rows import run_row
from workers.selectors.workers import worker_row
from workers.services.drain import worker_drain
from workers.services.release import worker_release

router = Router(by_alias=True)


class Release(Body):
    """Which run, whether from a worker that is heard of, and why."""

    run_id: str = Field(max_length=40)
    force: bool = Field(default=False, strict=True)
    reason: str = Field("", max_length=500)


class Drain(Body):
    """Whether it shall stay after all, and why."""

    back: bool = Field(default=False, strict=True)
    reason: str = Field(default="", max_length=500)


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


@router.post("/{worker_id}/release", response=responses({200: RunRow}, 403, 404, 409, 413))
def worker_release_post(request: HttpRequest, worker_id: str, body: Release) -> dict[str, Any]:
    """Take a run back from its worker now; the retry rule queues it again."""
    caller = needs(request, Role.OPERATOR, "Releasing a run")
    run = worker_release(
        worker_id=worker_id, run_id=body.run_id, actor=caller.actor, force=body.force, reason=body.reason
    )
    return run_row(run)


@router.post("/{worker_id}/drain", response=responses({200: Worker}, 403, 404, 409, 413))
def worker_drain_post(request: HttpRequest, worker_id: str, body: Drain | None = None) -> dict[str, Any]:
    """Have a worker leave once its run has ended, or with `back` let it stay; it is told with its next claim."""
    caller = needs(request, Role.OPERATOR, "Draining a worker")
    body = body or Drain()
    return worker_json(
        worker_row(worker_drain(worker_id=worker_id, actor=caller.actor, reason=body.reason, back=body.back))
    )

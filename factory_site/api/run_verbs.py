"""Routes with which an operator acts on runs: on the router that reads them, since both share a path."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest  # noqa: TC002  # ninja reads the annotations
from ninja.responses import Status
from pydantic import Field

from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import Body
from factory_site.api.run_answers import RunRow, Started
from factory_site.api.runs import router
from runs.models import Role
from runs.queue.cancel import run_cancel
from runs.queue.operating.extend import run_extend
from runs.queue.operating.retry import run_retry
from runs.queue.operating.start import run_start
from runs.reading.detail import run_find
from runs.reading.rows import run_row

__all__ = ["router"]


class Start(Body):
    """Which agent, with which variables, about what."""

    agent: str = Field(max_length=80)
    input: Any
    subject: str = Field("", max_length=200)


class Cancel(Body):
    """Why."""

    reason: str = Field("", max_length=500)


class Retry(Body):
    """Whether beyond its budget, and why."""

    force: bool = Field(default=False, strict=True)
    reason: str = Field("", max_length=500)


class Extend(Body):
    """By how many seconds, whether beyond the limit, and why."""

    seconds: Any = None
    override: bool = Field(default=False, strict=True)
    reason: str = Field("", max_length=500)


@router.post("", response=responses({202: Started}, 403, 409, 413, 422))
def run_start_post(request: HttpRequest, body: Start) -> Status[dict[str, Any]]:
    """Start an agent that only reads; the header `Idempotency-Key` makes a repetition the same run."""
    caller = needs(request, Role.OPERATOR, "Starting a run")
    started = run_start(
        agent=body.agent,
        variables=body.input,
        subject=body.subject,
        key=request.headers.get("Idempotency-Key", ""),
        actor=caller.actor,
    )
    return Status(202, {"runId": started.run.run_id, "created": started.created})


@router.post("/{run_id}/cancel", response=responses({200: RunRow}, 403, 404, 409, 413))
def run_cancel_post(request: HttpRequest, run_id: str, body: Cancel | None = None) -> dict[str, Any]:
    """Cancel a run at once; its worker stops the agent."""
    caller = needs(request, Role.OPERATOR, "Cancelling a run")
    run = run_cancel(
        run=run_find(run_id), code="operator_cancel", actor=caller.actor, reason=body.reason if body else ""
    )
    return run_row(run)


@router.post("/{run_id}/retry", response=responses({200: RunRow}, 403, 404, 409, 413))
def run_retry_post(request: HttpRequest, run_id: str, body: Retry | None = None) -> dict[str, Any]:
    """Queue a failed run again."""
    caller = needs(request, Role.OPERATOR, "Retrying a run")
    wanted = body or Retry(force=False, reason="")
    return run_row(run_retry(run=run_find(run_id), actor=caller.actor, force=wanted.force, reason=wanted.reason))


@router.post("/{run_id}/extend", response=responses({200: RunRow}, 403, 404, 409, 413))
def run_extend_post(request: HttpRequest, run_id: str, body: Extend) -> dict[str, Any]:
    """Give a running agent more time, and the flow that waits for it as much."""
    caller = needs(request, Role.OPERATOR, "Extending a run")
    attempt = run_extend(
        run=run_find(run_id),
        seconds=body.seconds,
        actor=caller.actor,
        override=body.override,
        reason=body.reason,
    )
    return run_row(attempt.run)

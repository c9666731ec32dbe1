"""Routes of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Query, Router, Schema
from pydantic import Field

from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import Body, Page, conditional, window
from factory_site.api.run_answers import Receipt, RunDetail, RunList, RunRow, Trace, Why
from runs.contract.errors import Invalid
from runs.flow import RUN_MACHINE
from runs.models import Role, Run
from runs.queue.cancel import run_cancel
from runs.reading.detail import run_detail, run_find, run_receipt, run_trace
from runs.reading.rows import run_row, run_rows
from runs.reading.why import run_why
from runs.subjects import subject_reference

if TYPE_CHECKING:
    from django.db.models import QuerySet

router = Router(by_alias=True)


class RunFilter(Page):
    """Which runs."""

    state: str | None = Field(None, max_length=40)
    agent: str | None = Field(None, max_length=80)
    subject: str | None = Field(None, max_length=300)
    repository: str | None = Field(None, max_length=200)


class TraceFilter(Schema):
    """Which trace rows."""

    since: int = Field(-1, ge=-1, le=2**62)
    limit: int = Field(200, ge=1, le=200)


class Cancel(Body):
    """Why."""

    reason: str = Field("", max_length=500)


@router.get("", response=responses({200: RunList}, 304))
def run_list(request: HttpRequest, filters: Query[RunFilter]) -> HttpResponse:
    """Runs, newest first."""
    return conditional(request, window(runs_filtered(filters), filters, run_rows))


@router.get("/{run_id}", response=responses({200: RunDetail}, 304, 404))
def run_show(request: HttpRequest, run_id: str) -> HttpResponse:
    """One run with everything about it."""
    return conditional(request, run_detail(run_find(run_id)))


@router.get("/{run_id}/trace", response=responses({200: Trace}, 304, 404))
def run_trace_show(request: HttpRequest, run_id: str, filters: Query[TraceFilter]) -> HttpResponse:
    """What the agent does, live: rows after ``since``."""
    return conditional(request, run_trace(run_find(run_id), since=filters.since, limit=filters.limit))


@router.get("/{run_id}/receipt", response=responses({200: Receipt}, 304, 404))
def run_receipt_show(request: HttpRequest, run_id: str) -> HttpResponse:
    """The hashes that bind specification, definition, result, evidence and journal."""
    return conditional(request, run_receipt(run_find(run_id)))


@router.get("/{run_id}/why", response=responses({200: Why}, 304, 404))
def run_why_show(request: HttpRequest, run_id: str) -> HttpResponse:
    """Why it waits, and what each live worker lacks for it."""
    return conditional(request, run_why(run_find(run_id)))


@router.post("/{run_id}/cancel", response=responses({200: RunRow}, 403, 404, 409, 413))
def run_cancel_post(request: HttpRequest, run_id: str, body: Cancel | None = None) -> dict[str, Any]:
    """Cancel a run at once; its worker stops the agent."""
    caller = needs(request, Role.OPERATOR, "Cancelling a run")
    run = run_cancel(
        run=run_find(run_id), code="operator_cancel", actor=caller.actor, reason=body.reason if body else ""
    )
    return run_row(run)


def runs_filtered(filters: RunFilter) -> QuerySet[Run]:
    """The runs that the filter lets through; raises ``Invalid`` for a state that no run has."""
    rows = Run.objects.select_related("placement_class")
    if filters.state:
        if filters.state not in RUN_MACHINE.values:
            raise Invalid(
                "invalid_field",
                f"Unknown state {filters.state!r}. Known: {', '.join(RUN_MACHINE.values)}.",
                details={"field": "state"},
            )
        rows = rows.filter(state=filters.state)
    if filters.agent:
        by = "agent_ref" if "@" in filters.agent else "agent_id"
        rows = rows.filter(**{by: filters.agent})
    if filters.subject:
        rows = rows.filter(subject=subject_reference(filters.subject))
    if filters.repository:
        rows = rows.filter(repository=filters.repository)
    return rows

"""Routes that read runs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Query, Router, Schema
from pydantic import Field

from factory_site.api.errors import responses
from factory_site.api.lists import Page, conditional, window
from factory_site.api.run_answers import Receipt, RunDetail, RunList, Trace, Why
from runs.contract.errors import Invalid
from runs.flow import RUN_MACHINE
from runs.models import Run
from runs.reading.detail import run_detail, run_find, run_receipt, run_trace
from runs.reading.narrowing import Narrowing, runs_narrowed
from runs.reading.rows import run_rows
from runs.reading.why import run_why

if TYPE_CHECKING:
    from django.db.models import QuerySet

router = Router(by_alias=True)


class RunFilter(Page):
    """Which runs."""

    state: str | None = Field(None, max_length=40)
    agent: str | None = Field(None, max_length=80)
    subject: str | None = Field(None, max_length=300)
    repository: str | None = Field(None, max_length=200)
    worker: str | None = Field(None, max_length=120)
    reason: str | None = Field(None, max_length=64)
    cause: str | None = Field(None, max_length=16)
    adapter: str | None = Field(None, max_length=40)


class TraceFilter(Schema):
    """Which trace rows."""

    since: int = Field(-1, ge=-1, le=2**62)
    limit: int = Field(200, ge=1, le=200)


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


def runs_filtered(filters: RunFilter) -> QuerySet[Run]:
    """The runs that the filter lets through; raises ``Invalid`` for a state or cause that no run has."""
    rows = Run.objects.select_related("placement_class")
    if filters.state:
        if filters.state not in RUN_MACHINE.values:
            raise Invalid(
                "invalid_field",
                f"Unknown state {filters.state!r}. Known: {', '.join(RUN_MACHINE.values)}.",
                details={"field": "state"},
            )
        rows = rows.filter(state=filters.state)
    asked = {field.name: getattr(filters, field.name) or "" for field in fields(Narrowing)}
    return runs_narrowed(rows, Narrowing(**asked))

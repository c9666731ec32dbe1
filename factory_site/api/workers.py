"""Routes of workers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Query, Router
from pydantic.alias_generators import to_camel

from factory_site.api.answers import WorkerList
from factory_site.api.errors import responses
from factory_site.api.lists import Page, conditional, cursor, position
from workers.selectors.workers import WorkerRow, workers

router = Router(by_alias=True)


@router.get("", response=responses({200: WorkerList}, 304))
def worker_list(request: HttpRequest, page: Query[Page]) -> HttpResponse:
    """Workers, the newest boot first."""
    rows = workers(limit=page.limit, before=position(page.before) if page.before else None)
    more = len(rows) == page.limit
    items = [worker_json(row) for row in rows]
    return conditional(request, {"items": items, "nextBefore": cursor(rows[-1].key) if more else None})


def worker_json(row: WorkerRow) -> dict[str, Any]:
    """A worker as lists show it."""
    return {to_camel(name): value for name, value in asdict(row).items() if name != "key"}

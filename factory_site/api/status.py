"""GET /api/v1/status."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Router

from factory_site.api.answers import StatusAnswer
from factory_site.api.errors import responses
from factory_site.api.lists import conditional
from factory_site.status import status_document

router = Router(by_alias=True)


@router.get("", response=responses({200: StatusAnswer}, 304))
def status_show(request: HttpRequest) -> HttpResponse:
    """What is going on: counts by state, workers, queue, tasks, overdue rows."""
    return conditional(request, status_document())

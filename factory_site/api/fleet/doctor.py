"""GET /api/v1/doctor."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Router

from factory_site.api.errors import responses
from factory_site.api.fleet.answers import Findings
from factory_site.api.lists import conditional
from factory_site.doctor.report import findings_recent

router = Router(by_alias=True)


@router.get("", response=responses({200: Findings}, 304))
def doctor_show(request: HttpRequest) -> HttpResponse:
    """What is wrong, anomalies first, each with the command that mends it."""
    return conditional(request, {"items": [each.document() for each in findings_recent()]})

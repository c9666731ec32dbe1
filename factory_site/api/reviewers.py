"""Routes of reviewers."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest  # noqa: TC002  # ninja reads the annotations
from ninja import Router
from pydantic import Field

from convergence.services.probe import reviewer_probe
from factory_site.api.answers import Probed
from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import Body
from runs.models import Role

router = Router(by_alias=True)


class Probe(Body):
    """Which reviewer, and where."""

    repository: str = Field(max_length=140)
    reviewer: str = Field(max_length=100)


@router.post("/probe", response=responses({200: Probed}, 403, 404, 413))
def reviewer_probe_post(request: HttpRequest, body: Probe) -> dict[str, Any]:
    """Ask a reviewer again that GitHub refused to request."""
    needs(request, Role.OPERATOR, "Asking a reviewer again")
    mark = reviewer_probe(repository=body.repository, reviewer=body.reviewer)
    was = mark.unavailable_until if mark else None
    return {"repository": body.repository, "reviewer": body.reviewer, "wasUnavailableUntil": was}

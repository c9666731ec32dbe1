"""One instant for a whole request, so that everything on a page agrees; the clock may be a read of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.clock import now as clock_now

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest

KEY = "factory.moment"


def moment(request: HttpRequest) -> datetime:
    """When the server first needed to know the time of this request; for what is shown, never for what is decided."""
    if KEY not in request.META:
        request.META[KEY] = clock_now()
    found: datetime = request.META[KEY]
    return found

"""The doctor's page: what is wrong, and which command mends it; below, what moves everything by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.doors import region, show, signed_in, unchanged
from factory_site.console.selectors.doctor import doctor_page
from factory_site.console.submissions import new_submission

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

POLL_SECONDS = 10


@signed_in()
def doctor(request: HttpRequest) -> HttpResponse:
    """Every finding, the passes, and the deliveries that wait or were given up."""
    page = doctor_page()
    live = region(request, "live", page, POLL_SECONDS)
    context = {"here": "doctor", "page": page, "dead": [(row, new_submission()) for row in page.dead]}
    return unchanged(request, live) or show(request, "fleet/doctor.html", context, live)

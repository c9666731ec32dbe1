"""Overview, which answers whether anything needs a person and whether the fleet is well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.doors import person, region, show, signed_in, unchanged
from factory_site.console.moment import moment
from factory_site.console.selectors import overview as read
from factory_site.console.submissions import new_submission

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

POLL_SECONDS = 5


@signed_in()
def overview(request: HttpRequest) -> HttpResponse:
    """The first page; a new install shows its three steps instead."""
    now = moment(request)
    version = read.overview_version(person(request), now)
    live = region(request, "live", version, POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    if version.has_pulls:
        return show(request, "console/overview.html", {"here": "overview", "seen": read.overview(now, version)}, live)
    context = {"here": "overview", "steps": read.fresh_steps(now), "submission": new_submission(), "form": {}}
    return show(request, "console/fresh.html", context, live)

"""Asking a reviewer again that the forge refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.services.probe import reviewer_probe
from factory_site.console.doors import require, signed_in
from factory_site.console.selectors.pull import pull_address, pull_at
from factory_site.console.submissions import Done, submit_once
from runs.models.user import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@signed_in("POST")
def probe(request: HttpRequest) -> HttpResponse:
    """Forget that the reviewer was refused in this pull request's repository, and go back to its gate."""
    require(request, Role.OPERATOR, "Asking a reviewer again")

    def act() -> Done:
        owner, _, rest = request.POST.get("pull", "").partition("/")
        name, _, number = rest.partition("#")
        pull = pull_at(owner, name, int(number) if number.isdecimal() else 0)
        reviewer = request.POST.get("reviewer", "")
        reviewer_probe(repository=pull.repository.full_name, reviewer=reviewer)
        return Done(f"{pull_address(pull)}?tab=gate", f"{reviewer} is asked again at the next look.")

    return submit_once(request, act)

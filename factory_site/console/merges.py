"""A person's word in a merge: letting it pass its lane, dropping what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.doors import actor, require, signed_in
from factory_site.console.pull import acted
from factory_site.console.selectors import pull as read
from factory_site.console.selectors.pull import pull_address
from factory_site.console.submissions import Done
from merging.services.dependencies import dependency_drop
from merging.services.lanes import lane_pass
from runs.models.user import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@signed_in("POST")
def pass_lane(request: HttpRequest, owner: str, name: str, number: int) -> HttpResponse:
    """Let the pull request go before its neighbours, for a reason."""
    require(request, Role.OPERATOR, "Passing a lane")
    pull = read.pull_at(owner, name, number)

    def act() -> Done:
        lane_pass(pull, actor=actor(request), reason=request.POST.get("reason", ""))
        return Done(f"{pull_address(pull)}?tab=merge", f"{pull.key} may pass its lane.")

    return acted(request, pull, act)


@signed_in("POST")
def drop_dependency(request: HttpRequest, owner: str, name: str, number: int) -> HttpResponse:
    """Let the pull request merge without waiting for another one, for a reason."""
    require(request, Role.OPERATOR, "Dropping a dependency")
    pull = read.pull_at(owner, name, number)

    def act() -> Done:
        key = request.POST.get("key", "")
        dropped = dependency_drop(pull, key, actor=actor(request), reason=request.POST.get("reason", ""))
        return Done(f"{pull_address(pull)}?tab=merge", f"{pull.key} no longer waits for {dropped.reference}.")

    return acted(request, pull, act)

"""Routes of a person's word in a merge: passing a lane, dropping a dependency."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest  # noqa: TC002  # ninja reads the annotations
from ninja import Router
from pydantic import Field

from convergence.selectors.lookup import pull_named
from factory_site.api.answers import PullState
from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import Body
from merging.services.dependencies import dependency_drop
from merging.services.lanes import lane_pass
from runs.models import Role

router = Router(by_alias=True)
ONE = "/{owner}/{repo}/{number}"
MOST_NUMBER = 2**31 - 1  # of a pull request


class Pass(Body):
    """Why it may go before its neighbours."""

    reason: str = Field("", max_length=500)


class Drop(Body):
    """Which dependency, and why it need not be waited for."""

    key: str = Field(max_length=200)
    reason: str = Field("", max_length=500)


@router.post(ONE + "/pass-lane", response=responses({200: PullState}, 403, 404, 409))
def lane_pass_post(request: HttpRequest, owner: str, repo: str, number: int, body: Pass) -> dict[str, Any]:
    """Let the pull request go before the neighbours of its lane."""
    caller = needs(request, Role.OPERATOR, "Passing a lane")
    pull = pull_named(owner, repo, number if 0 < number <= MOST_NUMBER else 0)
    lane_pass(pull, actor=caller.actor, reason=body.reason)
    return {"prKey": pull.key, "state": pull.state}


@router.post(ONE + "/drop-dependency", response=responses({200: PullState}, 403, 404, 409))
def dependency_drop_post(request: HttpRequest, owner: str, repo: str, number: int, body: Drop) -> dict[str, Any]:
    """Let the pull request merge without waiting for another one."""
    caller = needs(request, Role.OPERATOR, "Dropping a dependency")
    pull = pull_named(owner, repo, number if 0 < number <= MOST_NUMBER else 0)
    dependency_drop(pull, body.key, actor=caller.actor, reason=body.reason)
    return {"prKey": pull.key, "state": pull.state}

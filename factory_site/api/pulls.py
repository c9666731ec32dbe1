"""Routes of pull requests."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Query, Router
from ninja.responses import Status
from pydantic import Field

from convergence.flow import PullState as State
from convergence.selectors.lists import pulls_listed
from convergence.selectors.lookup import pull_named
from convergence.selectors.shapes import wire
from convergence.services.cancel import pull_cancel
from convergence.services.look_now import pull_look
from convergence.services.submit import pull_submit
from factory_site.api.answers import LookAt, PullDetail, PullList, PullState, Submitted
from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import Body, Page, conditional, no_cursor, opaque, transparent
from factory_site.pulls import pull_document
from runs.contract.errors import Invalid
from runs.models import Role

router = Router(by_alias=True)
ONE = "/{owner}/{repo}/{number}"
MOST_NUMBER = 2**31 - 1  # of a pull request


class PullFilter(Page):
    """Which pull requests."""

    state: str | None = Field(None, max_length=40)
    repo: str | None = Field(None, max_length=140)


class Submission(Body):
    """A pull request to be driven to convergence."""

    pull_request: str = Field(max_length=500)
    max_rounds: int | None = Field(None, strict=True)
    auto_merge: bool | None = Field(None, strict=True)
    depends_on: list[str] = Field(default_factory=list, max_length=50)


class Cancel(Body):
    """Why."""

    reason: str = Field("", max_length=500)


@router.get("", response=responses({200: PullList}, 304))
def pull_list(request: HttpRequest, filters: Query[PullFilter]) -> HttpResponse:
    """Pull requests, the newest change first."""
    if filters.state and filters.state not in list(State):
        raise Invalid(
            "invalid_field",
            f"Unknown state {filters.state!r}. Known: {', '.join(State)}.",
            details={"field": "state"},
        )
    try:
        page = pulls_listed(
            states=[filters.state] if filters.state else [],
            repository=filters.repo or "",
            cursor=transparent(filters.before) if filters.before else "",
            limit=filters.limit,
        )
    except Invalid:  # of this selector's arguments only the cursor is a caller's to get wrong
        raise no_cursor() from None
    after = opaque(page.next_cursor) if page.next_cursor else None
    return conditional(request, {"items": wire(page.items), "nextBefore": after})


@router.post("", response=responses({202: Submitted}, 403, 404, 409, 413))
def pull_submit_post(request: HttpRequest, body: Submission) -> Status[dict[str, Any]]:
    """Submit a pull request; one that runs already is left as it is."""
    caller = needs(request, Role.OPERATOR, "Submitting a pull request")
    submitted = pull_submit(
        reference=body.pull_request,
        max_rounds=body.max_rounds,
        auto_merge=body.auto_merge,
        depends_on=body.depends_on,
        actor=caller.actor,
    )
    return Status(202, submitted.as_json())


@router.get(ONE, response=responses({200: PullDetail}, 304, 404))
def pull_show(request: HttpRequest, owner: str, repo: str, number: int) -> HttpResponse:
    """One pull request: rounds, questions, merge attempts, transitions, and why it waits."""
    return conditional(request, pull_document(pull_named(owner, repo, _number(number))))


@router.post(ONE + "/cancel", response=responses({200: PullState}, 403, 404, 409, 413))
def pull_cancel_post(
    request: HttpRequest, owner: str, repo: str, number: int, body: Cancel | None = None
) -> dict[str, Any]:
    """Abandon the pull request; its agent is stopped."""
    caller = needs(request, Role.OPERATOR, "Cancelling a pull request")
    pull = pull_named(owner, repo, _number(number))
    cancelled = pull_cancel(pull=pull, actor=caller.actor, reason=body.reason if body else "")
    return {"prKey": cancelled.key, "state": cancelled.state}


@router.post(ONE + "/look", response=responses({202: LookAt}, 403, 404, 429))
def pull_look_post(request: HttpRequest, owner: str, repo: str, number: int) -> Status[dict[str, Any]]:
    """Look at it now, at most once in ten seconds."""
    needs(request, Role.OPERATOR, "Looking at a pull request")
    pull = pull_named(owner, repo, _number(number))
    return Status(202, {"prKey": pull.key, "lookAt": pull_look(pull=pull)})


def _number(number: int) -> int:
    """The number, or 0, which no pull request has, for one that none could have."""
    return number if 0 < number <= MOST_NUMBER else 0

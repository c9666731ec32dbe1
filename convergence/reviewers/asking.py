"""How GitHub is asked for a review, and whether one is pending: the parts that every adapter shares. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.reviewers.contract import Pending, RequestWrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from convergence.forge.facts import PullFacts, ReviewRequest

REST, BY_LOGIN, TEAM = "rest", "by_login", "team"


def target_of(pull: PullFacts) -> dict[str, Any]:
    """The pull request as the JSON argument of a write."""
    owner, _, name = pull.repository.name_with_owner.partition("/")
    return {"owner": owner, "name": name, "number": pull.number, "node_id": pull.node_id}


def asked_by(pull: PullFacts, login: str, *, spellings: Iterable[str], ways: Iterable[str] = (REST,)) -> RequestWrite:
    """A request for the review of an account; ``spellings`` are all those under which it may show as pending."""
    arguments = {"pull": target_of(pull), "login": login, "spellings": sorted(spellings), "ways": list(ways)}
    return RequestWrite(operation="request_review", arguments=arguments)


def pending_in(snapshot: PullFacts, matches: Callable[[ReviewRequest], bool]) -> Pending:
    """Whether one of the requested reviewers matches; unknown where the list is unread, short or hides somebody."""
    requests = snapshot.review_requests
    if requests is None:
        return Pending.UNKNOWN
    if any(matches(request) for request in requests.items):
        return Pending.YES
    hidden = any(request.login is None for request in requests.items)  # an older server names no bots
    return Pending.NO if requests.complete and not hidden else Pending.UNKNOWN

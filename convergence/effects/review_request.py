"""Asking a reviewer for a review, and what its outcome means for the next request."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from convergence.effects.performing import write_performed
from convergence.flow import ConvergenceState
from convergence.forge.facts import Profile
from convergence.forge.reading import read_pull
from convergence.forge_access import forge_client, people_of, pull_ref, pull_target
from convergence.models import PullRequest, ReviewerStatus, ReviewRequest
from convergence.reviewers.contract import RequestWrite
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Transient

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from runs.flows.registry import EffectCall

UNAVAILABLE_FOR = timedelta(hours=24)
IGNORED, UNAVAILABLE, FAILED, DROPPED = "ignored", "unavailable", "failed", "dropped"
OBSERVED = frozenset({"requested", "already_pending"})
COMMENTED = {"done": "requested"}  # a comment that asks is a request when it is there


def request_review(call: EffectCall) -> Mapping[str, Any]:
    """Ask, and record on the request what was read back; a flow that waits no more asks nobody."""
    request = ReviewRequest.objects.get(pk=call.arguments["request"])
    pull = PullRequest.objects.select_related("repository").get(pk=request.pull_id)
    if call.row.state != ConvergenceState.AWAIT_REVIEW:
        _recorded(request, DROPPED, "the flow waits for no review any more")
        return {"dropped": "moved_on"}
    try:
        outcome, detail = _asked(forge_client(), call, pull, request)
    except Transient as error:
        if not request.outcome and error.code != "not_observed_yet":
            ReviewRequest.objects.filter(pk=request.pk).update(detail=error.message[:500])
        raise
    except FactoryError as error:
        outcome, detail = FAILED, f"{error.code}: {error.message}"
    _recorded(request, outcome, detail)
    _reviewer_marked(pull, request.reviewer, outcome, detail, clock_now())
    return {"outcome": outcome, "detail": detail}


def _asked(client: ForgeClient, call: EffectCall, pull: PullRequest, request: ReviewRequest) -> tuple[str, str]:
    write = _write(client, pull, request.reviewer)
    if write is None:
        return DROPPED, "this reviewer is not asked"
    observed = write_performed(client, call, write.operation, write.arguments)
    outcome = COMMENTED.get(observed.outcome, observed.outcome)
    return outcome, str(observed.detail.get("message") or observed.detail.get("shown") or "")


def _write(client: ForgeClient, pull: PullRequest, name: str) -> RequestWrite | None:
    """The request in the reviewer's own way; a person who is no configured reviewer is asked by login."""
    people = people_of(pull.repository.full_name)
    reviewer = next((each for each in people.reviewers if each.name == name), None)
    if reviewer is None:
        return RequestWrite("request_review", {"pull": pull_target(pull), "login": name, "spellings": [name]})
    facts = read_pull(client, Profile.WATCH, pull_ref(pull))
    return reviewer.request(facts, 1)


def _may_be_away(pull: PullRequest, name: str) -> bool:
    """Whether a refusal of this reviewer is a matter of the day, not of the policy."""
    known = people_of(pull.repository.full_name).reviewers
    return any(each.unavailable_after_422 for each in known if each.name == name)


def _recorded(request: ReviewRequest, outcome: str, detail: str) -> None:
    ReviewRequest.objects.filter(pk=request.pk).update(outcome=outcome, detail=detail[:500])


def _reviewer_marked(pull: PullRequest, reviewer: str, outcome: str, detail: str, now: datetime) -> None:
    """Remember a refusal for a day, and count requests in a row that led to nothing."""
    row, _ = ReviewerStatus.objects.get_or_create(
        repository=pull.repository, reviewer=reviewer, defaults={"checked_at": now}
    )
    row.checked_at = now
    row.detail = detail[:500]
    if outcome == UNAVAILABLE:
        row.unavailable_until = now + UNAVAILABLE_FOR
        row.misconfigured = not _may_be_away(pull, reviewer)
    elif outcome in OBSERVED:
        row.unavailable_until, row.ignored_count, row.misconfigured = None, 0, False
    elif outcome == IGNORED:
        row.ignored_count += 1
    row.save()

"""Which commit a review speaks for, which reviews are fresh, and whether a head has been reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergence.reviewers.contract import COUNTING_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from convergence.forge.facts import Review

CHANGES_REQUESTED = "CHANGES_REQUESTED"
Waived = frozenset[tuple[str, str]]  # kind and id of what a person let pass at the head
NOTHING: Waived = frozenset()
OPINIONS = frozenset({"APPROVED", CHANGES_REQUESTED, "DISMISSED"})  # a mere comment does not lift a request


@dataclass(frozen=True, slots=True)
class Assignment:
    """The one commit that a review counts for; blank with the reason when it counts for none."""

    counts_for: str
    void_reason: str = ""


@dataclass(frozen=True, slots=True)
class KnownReview:
    """A review as the product recorded it. ``consumed``: a round of the present generation was given it."""

    forge_id: str
    reviewer: str
    author: str
    configured: bool
    trusted: bool
    state: str
    submitted_at: datetime
    counts_for: str
    consumed: bool
    empty: bool
    void_reason: str = ""


@dataclass(frozen=True, slots=True)
class OpenThread:
    """An unresolved thread. ``given``: a turn of the present generation had it; ``is_ack``: it is only paperwork."""

    id: str
    author: str
    url: str
    given: bool
    where: str = ""
    is_ack: bool = False


def review_assignment(
    review: Review, *, head_first_seen: datetime | None, force_pushes: Iterable[datetime]
) -> Assignment:
    """Judge at first sight which commit the review is about; GitHub re-points it later, the product never does.

    It counts for the reported commit if that was seen as head before the review came; else unless a force-push or the
    commit itself is newer than the review.
    """
    if review.state not in COUNTING_STATES or review.submitted_at is None:
        return Assignment("", review.state.lower() or "pending")
    if not review.commit_sha:
        return Assignment("", "no_commit")
    if head_first_seen is not None and head_first_seen <= review.submitted_at:
        return Assignment(review.commit_sha)
    if any(at > review.submitted_at for at in force_pushes):
        return Assignment("", "force_pushed")
    if review.committed_at is not None and review.committed_at > review.submitted_at:
        return Assignment("", "commit_newer")
    return Assignment(review.commit_sha)


def newest_opinions(reviews: Iterable[KnownReview]) -> tuple[KnownReview, ...]:
    """The newest review of each trusted person that approves, requests changes or was dismissed."""
    newest: dict[str, KnownReview] = {}
    for review in sorted(reviews, key=lambda each: (each.submitted_at, each.forge_id)):
        if review.trusted and not review.configured and review.state in OPINIONS:
            newest[review.author.lower()] = review
    return tuple(newest.values())


def changes_requested(reviews: Iterable[KnownReview], waived: Waived = NOTHING) -> tuple[KnownReview, ...]:
    """The trusted people's requests for changes that stand and that nobody let pass."""
    return tuple(
        review
        for review in newest_opinions(reviews)
        if review.state == CHANGES_REQUESTED and ("review", review.forge_id) not in waived
    )


def fresh_reviews(
    reviews: Sequence[KnownReview], *, head: str | None, threads: Sequence[OpenThread]
) -> tuple[KnownReview, ...]:
    """The reviews that no round was given and that call for one; an unknown head equals no commit."""
    standing = {review.forge_id for review in changes_requested(reviews)}
    talking = {thread.author.lower() for thread in threads if not thread.given}
    fresh = []
    for review in reviews:
        if review.consumed:
            continue
        of_head = head is not None and review.counts_for == head
        asks = review.forge_id in standing or review.author.lower() in talking
        if (review.configured and of_head) or (review.trusted and not review.configured and asks):
            fresh.append(review)
    return tuple(fresh)


def only_empty(
    fresh: Sequence[KnownReview],
    reviews: Sequence[KnownReview],
    threads: Sequence[OpenThread],
    *,
    complete: bool,
    advisories: int = 0,
) -> bool:
    """Whether all fresh reviews are empty and the backlog holds nothing else; what is unread may hold something.

    ``advisories`` counts those without acknowledgement.
    """
    if not fresh or not complete or threads or advisories or not all(review.empty for review in fresh):
        return False
    given = {review.forge_id for review in fresh}
    others = (review for review in reviews if review.forge_id not in given and not review.consumed)
    return all(review.empty or review.state not in COUNTING_STATES for review in others)


def head_unreviewed(reviews: Iterable[KnownReview], head: str | None, waived: Waived = NOTHING) -> bool:
    """Whether no configured reviewer has a review that counts for the head; an unknown head is not asked about."""
    if head is None or ("head", "") in waived:
        return False
    return not any(review.configured and review.counts_for == head for review in reviews)


def asked_before(reviews: Iterable[KnownReview], head: str | None, waived: Waived = NOTHING) -> tuple[KnownReview, ...]:
    """Trusted people's standing requests for changes that are about another commit than the head."""
    if head is None:
        return ()
    return tuple(review for review in changes_requested(reviews, waived) if review.counts_for != head)


def stale_cause(reviews: Sequence[KnownReview], head: str | None, waived: Waived = NOTHING) -> str:
    """Why the head needs a review, blank when it needs none. Gate and wait ask these same functions."""
    if head_unreviewed(reviews, head, waived):
        return "unreviewed"
    return "changes_requested_before" if asked_before(reviews, head, waived) else ""

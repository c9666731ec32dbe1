"""Own and foreign heads: what was reviewed by this product, and what makes a pull request go back to review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from merging.guards import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from convergence.forge.facts import Listing, Review

NEVER = "never"


def head_is_foreign(head: str | None, own: Collection[str], review_after: str) -> bool:
    """Whether nobody reviewed this head. An unknown head is neither own nor foreign, and it never merges.

    ``foreign_push`` and ``any_push`` say the same while no agent of the merge flow pushes.
    """
    return review_after != NEVER and head is not None and head not in own


def changes_were_requested(reviews: Listing[Review] | None, converged_at: datetime, review_after: str) -> bool:
    """Whether some author's present opinion asks for changes and was submitted after convergence."""
    if review_after == NEVER or reviews is None:
        return False
    return any(
        review.state == "CHANGES_REQUESTED" and review.submitted_at is not None and review.submitted_at > converged_at
        for review in reviews.items
    )


class Asked(Protocol):
    """What was true when a question was asked: verdict, tip of the base, name of the base."""

    @property
    def asked_verdict(self) -> str:
        """The verdict then."""

    @property
    def asked_base_sha(self) -> str:
        """The tip of the base then."""

    @property
    def base_ref(self) -> str:
        """The name of the base then."""


READY_AGAIN = frozenset({"checks_failing", "conflict", "stalled"})
SPENT = frozenset({"merge_retries_spent", "merge_refused"})


def reason_is_gone(
    reason: str,
    *,
    verdict: Verdict | None,
    asked: Asked,
    base: str | None,
    base_ref: str,
    draft: bool,
    head_known: bool,
) -> bool:
    """Whether what an open question is about has gone away, on facts that were read.

    A verdict that is not settled changes nothing: ``waiting`` may be GitHub still computing.
    """
    if reason in READY_AGAIN:
        return verdict is Verdict.READY
    if reason in SPENT:
        settled = verdict not in {None, Verdict.WAITING}
        moved = base is not None and base != asked.asked_base_sha and verdict is Verdict.READY
        return (settled and verdict != asked.asked_verdict) or moved
    if reason == "draft":
        return verdict is not None and not draft
    if reason == "dead_end_base":
        return base_ref != asked.base_ref
    if reason == "unreachable":
        return head_known
    return False

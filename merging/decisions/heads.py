"""Own and foreign heads: what was reviewed by this product, and what makes a pull request go back to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

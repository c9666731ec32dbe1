"""Own and foreign heads: what was reviewed by this product, and what makes a pull request go back to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.forge.facts import Listing, Review

NEVER, ANY_PUSH = "never", "any_push"
NO_PUSH = frozenset({"converged", "first_read", "update_branch"})  # sources of own heads that no agent pushed


def head_is_foreign(head: str | None, own: Mapping[str, str], review_after: str) -> bool:
    """Whether this head has to be reviewed. An unknown head is neither own nor foreign, and it never merges.

    ``own`` maps each own head to its source; under ``any_push`` the pushes of repairing agents are reviewed too.
    """
    if review_after == NEVER or head is None:
        return False
    return head not in own or (review_after == ANY_PUSH and own[head] not in NO_PUSH)


def changes_were_requested(reviews: Listing[Review] | None, converged_at: datetime, review_after: str) -> bool:
    """Whether some author's present opinion asks for changes and was submitted after convergence."""
    if review_after == NEVER or reviews is None:
        return False
    return any(
        review.state == "CHANGES_REQUESTED" and review.submitted_at is not None and review.submitted_at > converged_at
        for review in reviews.items
    )

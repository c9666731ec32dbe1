"""The product's own record of reviews: whom each is by and which one commit it counts for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from convergence.backlog import open_threads, thread_ids
from convergence.decisions.acks import is_ack_thread
from convergence.decisions.reviews import KnownReview, OpenThread, review_assignment
from convergence.models import HeadSeen, ReviewSeen, RoundTurn
from convergence.reviewers.contract import COUNTING_STATES
from convergence.trust import Standing
from runs.contract.canonical import bytes_hash

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from convergence.forge.facts import PullFacts, Review
    from convergence.models import PullRequest
    from convergence.trust import People

_log = logging.getLogger(__name__)

FORCE_PUSHED = "HeadRefForcePushedEvent"
HEEDED = frozenset({Standing.REVIEWER, Standing.TRUSTED})
OWN, NOT_A_REVIEWER = "own", "not_a_reviewer"  # shown and counted, and nothing is concluded from them


def reviews_seen(pull: PullRequest, facts: PullFacts, people: People, now: datetime) -> None:
    """Record each review at its first sight; later only its state may change. A stranger's counts for no commit.

    A review that was dismissed meanwhile counts for no head from then on; nothing ever moves it to another one.
    """
    if facts.reviews is None:
        return
    rows = {row.forge_id: row for row in ReviewSeen.objects.filter(pull=pull)}
    for review in facts.reviews.items:
        if review.submitted_at is None:
            continue
        row = rows.get(str(review.id))
        standing = people.standing(review.author, review.association)
        known = standing in HEEDED
        if row is None or (known and row.void_reason == NOT_A_REVIEWER):
            nobodys = OWN if standing is Standing.OWN else NOT_A_REVIEWER
            counts = _assigned(pull, review, facts) if known else {"counts_for": "", "void_reason": nobodys}
            told = {"submitted_at": review.submitted_at, "first_seen_at": now, **_about(review, people), **counts}
            if row is None:
                ReviewSeen.objects.get_or_create(pull=pull, forge_id=str(review.id), defaults=told)
            else:
                ReviewSeen.objects.filter(pk=row.pk, void_reason=NOT_A_REVIEWER).update(**told)
            continue
        if (review.commit_sha or "") not in {"", row.reported_sha}:
            _log.info("review_repointed: %s of %s: from %s", row.forge_id, pull.key, row.reported_sha or "none")
        if row.state != review.state:
            void: dict[str, str] = {}
            if review.state not in COUNTING_STATES:
                void = {"counts_for": "", "void_reason": review.state.lower()}
            ReviewSeen.objects.filter(pk=row.pk).update(state=review.state, **void)


def _assigned(pull: PullRequest, review: Review, facts: PullFacts) -> dict[str, str]:
    """The commit that a review counts for, judged now and never again."""
    seen = HeadSeen.objects.filter(pull=pull, sha=review.commit_sha or "").values_list("first_seen_at", flat=True)
    events = facts.timeline.items if facts.timeline else ()
    judged = review_assignment(
        review,
        head_first_seen=seen.first(),
        force_pushes=[event.created_at for event in events if event.kind == FORCE_PUSHED],
    )
    return {"counts_for": judged.counts_for, "void_reason": judged.void_reason}


def _about(review: Review, people: People) -> dict[str, Any]:
    reviewer = people.reviewer(review.author)
    login = review.author.login if review.author else ""
    return {
        "reviewer": reviewer.name if reviewer else login,
        "author": login,
        "trusted": people.standing(review.author, review.association) is Standing.TRUSTED,
        "configured": reviewer is not None,
        "state": review.state,
        "reported_sha": review.commit_sha or "",
        "empty": reviewer is not None and reviewer.empty(review),
        "body_hash": bytes_hash((review.body or "").encode()),
    }


def known_reviews(pull: PullRequest, generation: int) -> tuple[KnownReview, ...]:
    """The recorded reviews of reviewers and trusted people, oldest first; consumed: by a round of this generation."""
    return tuple(
        KnownReview(
            forge_id=row.forge_id,
            reviewer=row.reviewer,
            author=row.author,
            configured=row.configured,
            trusted=row.trusted,
            state=row.state,
            submitted_at=row.submitted_at,
            counts_for=row.counts_for,
            consumed=row.consumed_generation == generation,
            empty=row.empty,
            void_reason=row.void_reason,
        )
        for row in ReviewSeen.objects.filter(Q(configured=True) | Q(trusted=True), pull=pull).order_by(
            "submitted_at", "id"
        )
    )


def reviews_consumed(pull: PullRequest, forge_ids: Iterable[str], *, generation: int, round_number: int) -> None:
    """Note that a round of this generation was given these reviews."""
    ReviewSeen.objects.filter(pull=pull, forge_id__in=list(forge_ids)).exclude(consumed_generation=generation).update(
        consumed_generation=generation, consumed_round=round_number
    )


def threads_open(pull: PullRequest, facts: PullFacts, generation: int, people: People) -> tuple[OpenThread, ...]:
    """The unresolved threads of a reading, each with whether a turn of this generation had it already."""
    backlogs = RoundTurn.objects.filter(round__pull=pull, round__generation=generation).values_list(
        "backlog", flat=True
    )
    given = frozenset().union(*(thread_ids(backlog) for backlog in backlogs))
    found = []
    for thread in open_threads(facts):
        first = thread.comments.items[0] if thread.comments.items else None
        place = f"{thread.path}:{thread.line}" if thread.line else thread.path
        found.append(
            OpenThread(
                id=thread.id,
                author=first.author.login if first and first.author else "",
                url=first.url if first else facts.url,
                given=thread.id in given,
                where=place,
                is_ack=is_ack_thread(thread, people),
            )
        )
    return tuple(found)

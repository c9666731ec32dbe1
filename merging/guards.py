"""The facts of one look at a pull request that is to be merged, and every guard of the merge table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from convergence.guards import PullSeen


class Verdict(StrEnum):
    """What mergeability comes to; only a settled verdict starts anything."""

    READY = "ready"
    WAITING = "waiting"
    BLOCKED = "blocked"
    CONFLICT = "conflict"
    DRAFT = "draft"


class Outcome(StrEnum):
    """What a merge attempt came to, as read back."""

    MERGED = "merged"
    RETRY = "retry"
    BLOCKED = "blocked"
    ABANDONED = "abandoned"


class Reason(StrEnum):
    """Why a merge attempt came to its outcome; the edge follows from it."""

    LANDED = "landed"
    ALREADY_MERGED = "already_merged"
    MERGED_ELSEWHERE = "merged_elsewhere"
    BASE_MODIFIED = "base_modified"
    TRANSIENT = "transient"
    BEHIND = "behind"
    REFUSED = "refused"  # not ready, although the verdict was ready again on the same head
    HEAD_MODIFIED = "head_modified"
    NOT_READY = "not_ready"
    DEAD_END_BASE = "dead_end_base"
    FORBIDDEN = "forbidden"
    CLOSED = "closed"


COUNTED = frozenset({Reason.BASE_MODIFIED, Reason.TRANSIENT, Reason.BEHIND, Reason.REFUSED})
OUTCOMES: dict[Reason, Outcome] = {
    Reason.LANDED: Outcome.MERGED,
    Reason.ALREADY_MERGED: Outcome.MERGED,
    Reason.MERGED_ELSEWHERE: Outcome.MERGED,
    **dict.fromkeys((*sorted(COUNTED), Reason.HEAD_MODIFIED, Reason.NOT_READY), Outcome.RETRY),
    Reason.DEAD_END_BASE: Outcome.BLOCKED,
    Reason.FORBIDDEN: Outcome.BLOCKED,
    Reason.CLOSED: Outcome.ABANDONED,
}

LANDING_QUESTION = "landing_unverified"
RETURNS_QUESTION = "returned_too_often"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that decides one look or one outcome. ``None`` is unknown, and unknown is never good news."""

    pull: PullSeen = PullSeen.UNREAD
    unreachable: bool = False  # not found, or head gone, three times over ten minutes
    dependencies_clear: bool = False
    verdict: Verdict | None = None  # None: nothing was read in this look
    foreign_head: bool = False  # a head that no review of this product covered
    changes_requested: bool = False  # by a review submitted after convergence
    returns: int = 0
    return_max: int = 3
    dead_end_base: bool = False
    base_busy: bool = False  # another flow of the same base is in `merging`
    resting: bool = False  # the pause after a counted retry is not over
    timer_passed: bool = False
    stalls: int = 0
    stall_max: int = 5
    retries: int = 0  # as they would be counted with this outcome
    retry_max: int = 5
    attempt: Reason | None = None  # how the merge attempt in hand ended
    refused: bool = False  # the last attempt at this head was not ready, which was not counted
    effect_pending: bool = True  # the merge effect is still to be delivered
    call_on_wire: bool = False  # an attempt was sent and is not read back
    landed: bool = False  # the landed commit was read as reachable from the base
    question: str = ""  # reason of the open question
    reason_gone: bool = False  # what the open question is about has gone away
    answer: str = ""  # resolution of the answered task: retry or abandon


def was_read(facts: Facts) -> bool:
    return facts.pull is not PullSeen.UNREAD


def pull_open(facts: Facts) -> bool:
    return facts.pull is PullSeen.OPEN


def pull_merged(facts: Facts) -> bool:
    return facts.pull is PullSeen.MERGED


def pull_closed(facts: Facts) -> bool:
    return facts.pull is PullSeen.CLOSED


def pull_unreachable(facts: Facts) -> bool:
    return facts.unreachable


def not_asking_about_landing(facts: Facts) -> bool:
    return facts.question != LANDING_QUESTION


def asking_about_landing(facts: Facts) -> bool:
    return facts.question == LANDING_QUESTION


def not_asking_about_returns(facts: Facts) -> bool:
    return facts.question != RETURNS_QUESTION


def needs_new_review(facts: Facts) -> bool:
    return facts.foreign_head or facts.changes_requested


def returns_left(facts: Facts) -> bool:
    return facts.returns < facts.return_max


def call_not_on_wire(facts: Facts) -> bool:
    return not facts.call_on_wire


def dependencies_clear(facts: Facts) -> bool:
    return facts.dependencies_clear


def verdict_draft(facts: Facts) -> bool:
    return facts.verdict is Verdict.DRAFT


def verdict_blocked(facts: Facts) -> bool:
    return facts.verdict is Verdict.BLOCKED


def verdict_conflict(facts: Facts) -> bool:
    return facts.verdict is Verdict.CONFLICT


def verdict_ready(facts: Facts) -> bool:
    return facts.verdict is Verdict.READY


def verdict_waiting(facts: Facts) -> bool:
    return facts.verdict is Verdict.WAITING


def base_dead_end(facts: Facts) -> bool:
    return facts.dead_end_base


def base_free(facts: Facts) -> bool:
    return not facts.base_busy


def rested(facts: Facts) -> bool:
    return not facts.resting


def timer_passed(facts: Facts) -> bool:
    return facts.timer_passed


def stalls_left(facts: Facts) -> bool:
    return facts.stalls < facts.stall_max


def refused_although_ready(facts: Facts) -> bool:
    return facts.refused


def retries_left(facts: Facts) -> bool:
    return facts.retries <= facts.retry_max


def effect_over(facts: Facts) -> bool:
    return not facts.effect_pending


def outcome_merged(facts: Facts) -> bool:
    return facts.attempt is not None and OUTCOMES[facts.attempt] is Outcome.MERGED


def outcome_counted(facts: Facts) -> bool:
    return facts.attempt in COUNTED


def outcome_not_counted(facts: Facts) -> bool:
    return facts.attempt in {Reason.HEAD_MODIFIED, Reason.NOT_READY}


def outcome_dead_end(facts: Facts) -> bool:
    return facts.attempt is Reason.DEAD_END_BASE


def outcome_forbidden(facts: Facts) -> bool:
    return facts.attempt is Reason.FORBIDDEN


def outcome_closed(facts: Facts) -> bool:
    return facts.attempt is Reason.CLOSED


def landing_proven(facts: Facts) -> bool:
    return facts.landed


def answer_retries(facts: Facts) -> bool:
    return facts.answer == "retry"


def answer_abandons(facts: Facts) -> bool:
    return facts.answer == "abandon"


def reason_gone(facts: Facts) -> bool:
    return facts.reason_gone

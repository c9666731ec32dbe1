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
    """How one merge attempt ended, as read back."""

    MERGED = "merged"
    RETRY = "retry"  # counted: base modified, transient, behind, refused
    HEAD_MODIFIED = "head_modified"  # not counted: the new head is judged anew
    NOT_READY = "not_ready"  # not counted the first time
    DEAD_END_BASE = "dead_end_base"
    FORBIDDEN = "forbidden"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that decides one look or one outcome. ``None`` is unknown, and unknown is never good news."""

    pull: PullSeen = PullSeen.UNREAD
    unreachable: bool = False
    dependencies_clear: bool = True
    verdict: Verdict | None = None  # None: nothing was read in this look
    foreign_head: bool = False  # a head that no review of this product covered
    changes_requested: bool = False  # by a review submitted after convergence
    returns: int = 0
    return_max: int = 3
    dead_end_base: bool = False
    base_busy: bool = False  # another flow of the same base is in `merging`
    timer_passed: bool = False
    stalls: int = 0
    stall_max: int = 5
    retries: int = 0  # as they would be counted with this outcome
    retry_max: int = 5
    outcome: Outcome | None = None
    refused_again: bool = False  # the forge refused the same ready head before
    effect_pending: bool = False  # the merge effect is still to be delivered
    landed: bool = False  # the landed commit was read as reachable from the base
    question: str = ""  # reason of the open question
    reason_gone: bool = False  # what the open question is about has gone away
    answer: str = ""  # resolution of the answered task: retry or abandon


LANDING_QUESTION = "landing_unverified"
RETURNS_QUESTION = "returned_too_often"


def pull_merged(facts: Facts) -> bool:
    return facts.pull is PullSeen.MERGED


def not_asking_about_landing(facts: Facts) -> bool:
    return facts.question != LANDING_QUESTION


def asking_about_landing(facts: Facts) -> bool:
    return facts.question == LANDING_QUESTION


def pull_closed(facts: Facts) -> bool:
    return facts.pull is PullSeen.CLOSED


def pull_unreachable(facts: Facts) -> bool:
    return facts.unreachable


def needs_new_review(facts: Facts) -> bool:
    return facts.foreign_head or facts.changes_requested


def returns_left(facts: Facts) -> bool:
    return facts.returns < facts.return_max


def not_asking_about_returns(facts: Facts) -> bool:
    return facts.question != RETURNS_QUESTION


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


def timer_passed(facts: Facts) -> bool:
    return facts.timer_passed


def stalls_left(facts: Facts) -> bool:
    return facts.stalls < facts.stall_max


def effect_over(facts: Facts) -> bool:
    return not facts.effect_pending and facts.pull is PullSeen.OPEN


def outcome_merged(facts: Facts) -> bool:
    return facts.outcome is Outcome.MERGED


def outcome_retry(facts: Facts) -> bool:
    return facts.outcome is Outcome.RETRY


def retries_left(facts: Facts) -> bool:
    return facts.retries <= facts.retry_max


def retries_spent(facts: Facts) -> bool:
    return facts.retries > facts.retry_max


def refused_again(facts: Facts) -> bool:
    return facts.refused_again


def outcome_not_counted(facts: Facts) -> bool:
    return facts.outcome in {Outcome.HEAD_MODIFIED, Outcome.NOT_READY}


def outcome_dead_end(facts: Facts) -> bool:
    return facts.outcome is Outcome.DEAD_END_BASE


def outcome_forbidden(facts: Facts) -> bool:
    return facts.outcome is Outcome.FORBIDDEN


def outcome_closed(facts: Facts) -> bool:
    return facts.outcome is Outcome.CLOSED


def landing_proven(facts: Facts) -> bool:
    return facts.landed


def answer_retries(facts: Facts) -> bool:
    return facts.answer == "retry"


def answer_abandons(facts: Facts) -> bool:
    return facts.answer == "abandon"


def reason_gone(facts: Facts) -> bool:
    return facts.reason_gone

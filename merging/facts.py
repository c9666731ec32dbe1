"""The facts of one look at a pull request that is to be merged, and the words that they are made of."""

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
DEPENDENCY_QUESTIONS = frozenset({"dependency_closed", "dependency_cycle"})


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that decides one look or one outcome. ``None`` is unknown, and unknown is never good news."""

    pull: PullSeen = PullSeen.UNREAD
    unreachable: bool = False  # not found, or head gone, three times over ten minutes
    dependencies_clear: bool = False
    dependency_waits: bool = False  # known, and not clear
    dependency_dead: bool = False  # one was closed without merging
    dependency_cyclic: bool = False  # one closes a cycle
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
    answer: str = ""  # resolution of the answered task

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
    QUEUED = "queued"
    EVICTED = "evicted"
    RETRY = "retry"
    BLOCKED = "blocked"
    ABANDONED = "abandoned"


class Reason(StrEnum):
    """Why a merge attempt came to its outcome; the edge follows from it."""

    LANDED = "landed"
    ALREADY_MERGED = "already_merged"
    MERGED_ELSEWHERE = "merged_elsewhere"
    QUEUED = "queued"
    BASE_MODIFIED = "base_modified"
    TRANSIENT = "transient"
    BEHIND = "behind"
    REFUSED = "refused"  # not ready, although the verdict was ready again on the same head
    HEAD_MODIFIED = "head_modified"
    NOT_READY = "not_ready"
    DEAD_END_BASE = "dead_end_base"
    FORBIDDEN = "forbidden"
    CLOSED = "closed"
    QUEUE_CONFLICT = "queue_conflict"  # why the merge queue dropped it
    QUEUE_CHECKS = "queue_checks"
    QUEUE_CLEARED = "queue_cleared"
    QUEUE_TAKEN_OUT = "queue_taken_out"


EVICTIONS = frozenset({Reason.QUEUE_CONFLICT, Reason.QUEUE_CHECKS, Reason.QUEUE_CLEARED, Reason.QUEUE_TAKEN_OUT})
COUNTED = frozenset({Reason.BASE_MODIFIED, Reason.TRANSIENT, Reason.BEHIND, Reason.REFUSED})
OUTCOMES: dict[Reason, Outcome] = {
    Reason.LANDED: Outcome.MERGED,
    Reason.ALREADY_MERGED: Outcome.MERGED,
    Reason.MERGED_ELSEWHERE: Outcome.MERGED,
    Reason.QUEUED: Outcome.QUEUED,
    **dict.fromkeys(sorted(EVICTIONS), Outcome.EVICTED),
    **dict.fromkeys((*sorted(COUNTED), Reason.HEAD_MODIFIED, Reason.NOT_READY), Outcome.RETRY),
    Reason.DEAD_END_BASE: Outcome.BLOCKED,
    Reason.FORBIDDEN: Outcome.BLOCKED,
    Reason.CLOSED: Outcome.ABANDONED,
}

LANDING_QUESTION = "landing_unverified"
RETURNS_QUESTION = "returned_too_often"
DEPENDENCY_QUESTIONS = frozenset({"dependency_closed", "dependency_cycle"})


class Update(StrEnum):
    """What bringing the base into the branch came to, as read back."""

    DONE = "done"
    POINTLESS = "pointless"  # it conflicts, is up to date, or the head moved: the next verdict says so
    REFUSED = "refused"  # not permitted, or there is no such operation


class AgentEnd(StrEnum):
    """What the run of an agent came to; everything that is no other word is ``ended``."""

    BLOCKED = "blocked"
    ASKS = "asks"  # refused because a person has to decide
    WAITS = "waits"  # for another pull request
    ENDED = "ended"


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
    unclassified: bool = False  # the forge's word for the merge state is not known
    in_queue: bool = False  # the pull request stands in the forge's merge queue
    fresh_run_due: bool = False  # no check has run on this head, and the base says how to begin one
    rerun_due: bool = False  # the agent said that the failure is not the change's, and the same runs still fail
    remedy_under_way: bool = False  # checks are about to run anew
    reopening: bool = False  # the product itself closed it, to open it again
    held: bool = False  # a pause, or a merge hold of its plan
    manual_landing: bool = False  # the base says that only a person merges into it
    approval_missing: bool = False  # its base needs a person's approval, and this head has none
    lane_ahead: bool = False  # a direct neighbour of its lane goes first
    lane_free: bool = False  # known: no neighbour goes first, or a person let it pass
    fresh_base_missing: bool = False  # its own checks must have seen the tip of the base, and have not
    agent: AgentEnd | None = None  # None: the run has not ended
    agent_question: bool = False  # the agent's question is not blank
    agent_pushed: bool = False
    agent_references: bool = False  # it named a pull request that this one can wait for
    reconciled: bool = False  # an agent's "blocked" had its free look at what is true
    blocked_again: bool = False  # the head is still the one at which an agent said "blocked"
    ci_fixes: int = 0
    ci_fix_max: int = 3
    rebases: int = 0
    rebase_max: int = 3
    update: Update | None = None
    eviction: Reason | None = None  # why the pull request left the merge queue; None: it has not
    evictions: int = 0  # as they would be counted with this one
    eviction_max: int = 5
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

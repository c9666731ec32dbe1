"""The facts of one look, and every guard of the convergence table as a pure predicate on them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runs.flow import RunState


class PullSeen(StrEnum):
    """How the pull request was found by this look."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"
    UNREAD = "unread"  # the forge could not be read: nothing is known
    MISSING = "missing"  # an explicit not-found


class Gate(StrEnum):
    """What the converge gate says; first hit of its table wins."""

    OK = "ok"
    STALE = "stale"
    BLOCKED = "blocked"
    ACK_ONLY = "ack_only"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How the run of the present step ended, from its row and its newest attempt."""

    state: str  # a `RunState` at rest
    reason_code: str = ""
    cause: str = ""
    status: str = ""  # the agent's verdict, exactly as a known word, else "addressed"
    question: str = ""  # not blank only when a person is really asked something
    asks_human: bool = False  # refused with needs_human
    scope_blocked: bool = False  # the classifier names a reason on which no person has ruled
    attempt: str = ""  # newest attempt: its failure cause or outcome, "" when there is none


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that decides one look. ``None`` is unknown, and unknown is never good news."""

    pull: PullSeen = PullSeen.UNREAD
    unreachable: bool = False  # not found, or head gone, three times over ten minutes
    settled: bool = False  # the state's facts were read, or its re-looks are used up
    head: str | None = None
    head_repository: bool = False
    entry_head: str | None = None
    round_status: str = ""
    round: int = 1
    max_rounds: int = 20
    husk_retries: int = 0
    husk_retry_max: int = 2
    ack_retries: int = 0
    ack_retry_max: int = 2
    run: RunEnd | None = None  # None: the run has not ended
    timer_passed: bool = False
    remembered: bool = False  # a person has answered this very question of the generation, and not in this round
    churn: bool = False  # the rounds lead nowhere, and nobody was asked about it yet
    fresh: bool = False  # a fresh review exists
    only_empty: bool = False  # all fresh reviews are empty, nothing else is open, and the policy skips them
    stale: bool = False  # the wait began because the gate said stale
    stale_cause: bool = True  # that cause still stands
    requestable: bool = True  # some configured reviewer can be requested
    proceed_without_reviewer: bool = True
    gate: Gate | None = None  # None: not judged yet (effects under way, or unread)
    gate_for_good: bool = False  # unreadable for good
    gate_head: str | None = None  # the head that the gate let pass
    scope_due: bool = True  # a scope run is due where the gate passes
    answer: str = ""  # resolution of the answered task: retry or abandon
    waives: bool = False  # the answer lets pass what its task listed
    answer_reverted: bool = False  # the answer that the present turn uses was taken back

    @property
    def read(self) -> bool:
        """Whether this look read the forge."""
        return self.pull not in {PullSeen.UNREAD, PullSeen.MISSING}


HUSKS = frozenset({"environment", "agent_exit"})  # newest attempts after which nobody finished


def was_read(facts: Facts) -> bool:
    return facts.read


def pull_merged(facts: Facts) -> bool:
    return facts.pull is PullSeen.MERGED


def pull_closed(facts: Facts) -> bool:
    return facts.pull is PullSeen.CLOSED


def pull_unreachable(facts: Facts) -> bool:
    return facts.unreachable


def settled(facts: Facts) -> bool:
    return facts.settled


def head_repository_known(facts: Facts) -> bool:
    return facts.head_repository


def status_converged(facts: Facts) -> bool:
    return run_completed(facts) and facts.run is not None and facts.run.status == "converged"


def asks_input(facts: Facts) -> bool:
    return (
        facts.run is not None
        and bool(facts.run.question)
        and (facts.run.asks_human or (facts.run.state == RunState.COMPLETED and facts.run.status == "needs_input"))
    )


def asks_blocked(facts: Facts) -> bool:
    return run_completed(facts) and facts.run is not None and facts.run.status == "blocked" and bool(facts.run.question)


def run_completed(facts: Facts) -> bool:
    return facts.run is not None and facts.run.state == RunState.COMPLETED


def run_refused_or_fatal(facts: Facts) -> bool:
    return facts.run is not None and (
        facts.run.state == RunState.REFUSED or (facts.run.state == RunState.FAILED and facts.run.cause == "fatal")
    )


def run_cancelled_by_person(facts: Facts) -> bool:
    return (
        facts.run is not None and facts.run.state == RunState.CANCELLED and facts.run.reason_code == "operator_cancel"
    )


def run_ended_otherwise(facts: Facts) -> bool:
    return facts.run is not None and facts.run.state in {RunState.FAILED, RunState.TIMED_OUT, RunState.CANCELLED}


def remembered(facts: Facts) -> bool:
    return facts.remembered


def asks_anything(facts: Facts) -> bool:
    return asks_input(facts) or asks_blocked(facts)


def run_going(facts: Facts) -> bool:
    return facts.run is None


def answer_reverted(facts: Facts) -> bool:
    return facts.answer_reverted


def timer_passed(facts: Facts) -> bool:
    return facts.timer_passed


def progressed(facts: Facts) -> bool:
    """Fails open: only a turn recorded as addressed, with both heads known and equal, made no progress."""
    return (
        facts.round_status != "addressed"
        or facts.entry_head is None
        or facts.head is None
        or facts.head != facts.entry_head
    )


def at_round_cap(facts: Facts) -> bool:
    return facts.round >= facts.max_rounds


def churn(facts: Facts) -> bool:
    return facts.churn


def husk(facts: Facts) -> bool:
    return facts.run is not None and facts.run.attempt in HUSKS


def husk_retries_left(facts: Facts) -> bool:
    return facts.husk_retries < facts.husk_retry_max


def fresh_review(facts: Facts) -> bool:
    return facts.fresh


def only_empty_reviews(facts: Facts) -> bool:
    return facts.only_empty


def stale_cause_gone(facts: Facts) -> bool:
    return facts.read and facts.stale and not facts.stale_cause


def nobody_requestable(facts: Facts) -> bool:
    return facts.read and not facts.requestable


def proceeds_without_reviewer(facts: Facts) -> bool:
    return facts.proceed_without_reviewer


def gate_ok(facts: Facts) -> bool:
    return facts.gate is Gate.OK


def gate_stale(facts: Facts) -> bool:
    return facts.gate is Gate.STALE


def gate_blocked(facts: Facts) -> bool:
    return facts.gate is Gate.BLOCKED


def gate_ack_only(facts: Facts) -> bool:
    return facts.gate is Gate.ACK_ONLY


def ack_retries_left(facts: Facts) -> bool:
    """Whether one more repeat is within the budget; the repeat itself is counted first."""
    return facts.ack_retries + 1 <= facts.ack_retry_max


def no_scope_due(facts: Facts) -> bool:
    return not facts.scope_due


def scope_over(facts: Facts) -> bool:
    """The classifier ended in whatever way, or its time is over."""
    return facts.run is not None or facts.timer_passed


def gate_outdated(facts: Facts) -> bool:
    """Whether the head is known and not the one that the gate let pass, or the gate would not let it pass now."""
    moved = facts.head is not None and facts.head != facts.gate_head
    return moved or facts.gate not in {None, Gate.OK}


def scope_blocked(facts: Facts) -> bool:
    return facts.run is not None and facts.run.scope_blocked


def gate_unverifiable(facts: Facts) -> bool:
    """For good at once; for a passing cause after the wait time-out, on a look that read the forge."""
    return facts.gate is Gate.UNREADABLE and (facts.gate_for_good or (facts.read and facts.timer_passed))


def answer_abandons(facts: Facts) -> bool:
    return facts.answer == "abandon"


def answer_retries(facts: Facts) -> bool:
    return facts.answer == "retry"


def answer_waives(facts: Facts) -> bool:
    return facts.waives

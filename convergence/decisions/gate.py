"""What the converge gate says: an agent's claim is judged on what was read after it, and fails closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergence.decisions.reviews import asked_before, changes_requested, head_unreviewed
from convergence.guards import Gate

if TYPE_CHECKING:
    from convergence.decisions.reviews import KnownReview, OpenThread


@dataclass(frozen=True, slots=True)
class GateFacts:
    """``unreadable`` says what could not be read, blank when all was; ``for_good``: reading again will not help."""

    head: str | None = None
    reviews: tuple[KnownReview, ...] = ()
    threads: tuple[OpenThread, ...] = ()
    requestable: bool = True
    unreadable: str = ""
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The first hit of the gate's table with its reason."""

    result: Gate
    reason: str
    for_good: bool = False


def gate_judge(facts: GateFacts) -> GateVerdict:
    """Judge; the first hit wins, and what was not read to its end never passes."""
    if facts.unreadable:
        return GateVerdict(Gate.UNREADABLE, facts.unreadable, facts.for_good)
    if head_unreviewed(facts.reviews, facts.head) and facts.requestable:
        return GateVerdict(Gate.STALE, "no review of the head")
    if facts.threads:
        return GateVerdict(Gate.BLOCKED, f"{len(facts.threads)} open threads")
    before = asked_before(facts.reviews, facts.head)
    of_head = [review for review in changes_requested(facts.reviews) if review not in before]
    if of_head:
        return GateVerdict(Gate.BLOCKED, f"changes requested by {', '.join(review.author for review in of_head)}")
    if before:
        names = ", ".join(review.author for review in before)
        return GateVerdict(Gate.STALE, f"changes requested on an older head by {names}")
    return GateVerdict(Gate.OK, "nothing open")

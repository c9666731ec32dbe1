"""What the converge gate says: an agent's claim is judged on what was read after it, and fails closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from convergence.decisions.reviews import NOTHING, asked_before, changes_requested, head_unreviewed
from convergence.guards import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from convergence.decisions.advisories import Advised
    from convergence.decisions.reviews import KnownReview, OpenThread, Waived

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class GateFacts:
    """``unreadable`` says what could not be read, blank when all was; ``for_good``: reading again will not help.

    ``advisories`` are those without acknowledgement; ``waived`` holds what a person let pass at ``head``.
    """

    head: str | None = None
    reviews: tuple[KnownReview, ...] = ()
    threads: tuple[OpenThread, ...] = ()
    advisories: tuple[Advised, ...] = ()
    waived: Waived = NOTHING
    requestable: bool = True
    unreadable: str = ""
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The first hit of the gate's table with its reason; ``left`` names what stands in the way, by kind."""

    result: Gate
    reason: str
    for_good: bool = False
    left: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a row of the table found; a blank reason is no hit."""

    reason: str = ""
    left: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GateRow:
    """One row of the gate's table."""

    name: str
    result: Gate
    found: Callable[[GateFacts], Hit]


def gate_judge(facts: GateFacts) -> GateVerdict:
    """Judge; the first hit wins, and what was not read to its end never passes."""
    for row in GATE_ROWS:
        hit = row.found(facts)
        if hit.reason:
            return GateVerdict(row.result, hit.reason, facts.for_good and row.result is Gate.UNREADABLE, hit.left)
    return GateVerdict(Gate.OK, "nothing open")


def _unreadable(facts: GateFacts) -> Hit:
    return Hit(facts.unreadable)


def _unreviewed(facts: GateFacts) -> Hit:
    missing = facts.requestable and head_unreviewed(facts.reviews, facts.head, facts.waived)
    return Hit("no review of the head" if missing else "")


def _open_threads(facts: GateFacts) -> Hit:
    threads = [thread.id for thread in _standing(facts) if not thread.is_ack]
    reviews = [review.forge_id for review in _asking(facts)]
    return Hit(_counted(threads, "open thread"), {"threads": threads, "reviews": reviews})


def _changes_requested(facts: GateFacts) -> Hit:
    asking = _asking(facts)
    told = f"changes requested by {_names(asking)}" if asking else ""
    return Hit(told, {"threads": [], "reviews": [review.forge_id for review in asking]})


def _changes_requested_before(facts: GateFacts) -> Hit:
    before = asked_before(facts.reviews, facts.head, facts.waived)
    return Hit(f"changes requested on an older head by {_names(before)}" if before else "")


def _unacknowledged(facts: GateFacts) -> Hit:
    advisories = [each.id for each in facts.advisories if ("advisory", each.id) not in facts.waived]
    threads = [thread.id for thread in _standing(facts) if thread.is_ack]
    told = [_counted(advisories, "suppressed comment"), _counted(threads, "open acknowledgement")]
    return Hit(" and ".join(word for word in told if word), {"advisories": advisories, "ackThreads": threads})


GATE_ROWS = (
    GateRow("unreadable", Gate.UNREADABLE, _unreadable),
    GateRow("head_unreviewed", Gate.STALE, _unreviewed),
    GateRow("open_threads", Gate.BLOCKED, _open_threads),
    GateRow("changes_requested", Gate.BLOCKED, _changes_requested),
    GateRow("changes_requested_before", Gate.STALE, _changes_requested_before),
    GateRow("unacknowledged", Gate.ACK_ONLY, _unacknowledged),
)


def _standing(facts: GateFacts) -> list[OpenThread]:
    """The open threads that nobody let pass."""
    return [thread for thread in facts.threads if ("thread", thread.id) not in facts.waived]


def _asking(facts: GateFacts) -> list[KnownReview]:
    """The trusted people's requests for changes on this head that nobody let pass."""
    before = asked_before(facts.reviews, facts.head, facts.waived)
    return [review for review in changes_requested(facts.reviews, facts.waived) if review not in before]


def _counted(items: Sequence[str], word: str) -> str:
    """``2 open threads``; blank for none."""
    return f"{len(items)} {word}{'' if len(items) == 1 else 's'}" if items else ""


def _names(reviews: Sequence[KnownReview]) -> str:
    return ", ".join(review.author for review in reviews[:MOST_NAMED])

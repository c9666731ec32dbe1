"""What an offer could lease now, and what holds the rest back: for idle workers, waiting requests and pools."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs.clock import now
from runs.queue import ready
from runs.queue.limits.blocking import caps_of
from runs.queue.limits.standing import standing_now
from runs.queue.placement import OFFER_MATCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runs.contract.placement import Offer
    from runs.models import PlacementClass
    from runs.queue.limits.blocking import Block, Cap, Standing


@dataclass(frozen=True, slots=True)
class Claimable:
    """How many runs an offer could lease, of which classes, and by what its other ready classes are blocked.

    ``has_due``: retries are due that nobody has released yet.
    """

    count: int = 0
    ready: tuple[PlacementClass, ...] = ()
    has_due: bool = False
    blocked: tuple[tuple[PlacementClass, Block], ...] = ()

    @property
    def reason(self) -> str:
        """Why nothing is leased, as the worker protocol has it."""
        if self.count or not self.blocked:
            return "none_ready"
        return "paused" if all(block.code.is_pause for _, block in self.blocked) else "limits"


def claimable(offer: Offer, *, node: str = "", limit: int = 1) -> Claimable:
    """Count what this offer could lease on this node, up to the limit, pauses, caps and the day's budget counted.

    Reads only, takes no lock. Without a node no cap of a node counts. Holds of single runs are not looked for: a run
    that has spent its budget leaves the ready index at the claim that finds it so.
    """
    at = now()
    rows = OFFER_MATCHES.matching(offer, ready.ready_classes())
    due = ready.due_classes(at)
    due_rows = OFFER_MATCHES.matching(offer, list(due))
    if not rows and not due_rows:
        return Claimable()
    standing = standing_now(at=at)
    room = _Room(standing, node)
    found, blocked = 0, []
    for row in rows:
        block = standing.block_of(row, node)
        if block is not None:
            blocked.append((row, block))
        elif found < limit:
            left = limit - found
            found += room.taken(row, ready.ready_count(row, left) if left > 1 else 1)  # it is ready, so it has one
    for row in due_rows:
        if found < limit and standing.block_of(row, node) is None:
            found += room.taken(row, min(due[row], limit - found))
    return Claimable(found, tuple(rows), bool(due), tuple(blocked))


def blocked_counts(blocked: Sequence[tuple[PlacementClass, Block]], *, limit: int = 100) -> dict[str, int]:
    """How many ready runs pauses and limits hold back, each counted up to the limit; one index read a class."""
    counts = {"paused": 0, "limits": 0}
    for row, block in blocked:
        name = "paused" if block.code.is_pause else "limits"
        counts[name] += ready.ready_count(row, limit - counts[name])
    return counts


class _Room:
    """What is left under each cap while classes are counted one after another."""

    def __init__(self, standing: Standing, node: str) -> None:
        self._standing = standing
        self._node = node
        self._taken: Counter[Cap] = Counter()

    def taken(self, row: PlacementClass, wanted: int) -> int:
        """Take as many of the wanted places as the caps of this class leave; how many."""
        caps = list(caps_of(row, self._standing.policy, self._node))
        rooms = (cap.limit - self._standing.used(cap) - self._taken[cap] for cap in caps)
        got = max(0, min([wanted, *rooms]))
        self._taken.update(dict.fromkeys(caps, got))
        return got

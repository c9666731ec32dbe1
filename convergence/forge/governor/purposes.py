"""What a request is for. The scarcer the budget, the fewer purposes still pass; people and merges pass to the end."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Level(IntEnum):
    """How scarce a credential's hourly budget is, from plenty to nothing."""

    NORMAL = 0
    SLOW = 1
    RESERVE = 2
    INTERACTIVE = 3
    BLOCKED = 4

    @property
    def word(self) -> str:
        """Its name on pages and the wire."""
        return self.name.lower()


class Purpose(StrEnum):
    """Why something is asked."""

    POLL = "poll"
    ROUND = "round"  # what a round begins with
    GATE = "gate"  # what finishes: the gate's reading, and that of a merge's verdict
    WRITE = "write"
    MERGE = "merge"
    PERSON = "person"  # somebody waits for the answer


# The scarcest level at which a purpose is still served.
SERVED_TO = {
    Purpose.POLL: Level.RESERVE,
    Purpose.ROUND: Level.SLOW,
    Purpose.GATE: Level.RESERVE,
    Purpose.WRITE: Level.RESERVE,
    Purpose.MERGE: Level.INTERACTIVE,
    Purpose.PERSON: Level.INTERACTIVE,
}
# How many times longer the interval between two polls of a row is.
POLL_FACTORS = {Level.NORMAL: 1, Level.SLOW: 2, Level.RESERVE: 8, Level.INTERACTIVE: 8, Level.BLOCKED: 8}
# Purposes that nobody misses for a minute: while the forge is away, one request of theirs asks for all.
PATIENT = frozenset({Purpose.POLL, Purpose.ROUND, Purpose.GATE})

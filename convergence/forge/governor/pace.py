"""How fast content may be created: a second apart, so many a minute, so many an hour. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The most of one credential; GitHub's own limits are 80 a minute and 500 an hour."""

    per_minute: int = 60
    per_hour: int = 400
    apart: float = 1.0  # seconds between two writes, as GitHub advises


def next_write(stamps: Sequence[float], pace: Pace) -> float:
    """Return the first instant (epoch seconds) at which one more write keeps the pace; ``stamps`` are ascending."""
    instants = [0.0]
    if stamps:
        instants.append(stamps[-1] + pace.apart)
    for most, seconds in ((pace.per_minute, MINUTE), (pace.per_hour, HOUR)):
        if len(stamps) >= most:
            instants.append(stamps[-most] + seconds)
    return max(instants)


def kept(stamps: Sequence[float], now: float) -> tuple[float, ...]:
    """Return those of the last hour; older ones limit nothing any more."""
    return tuple(stamp for stamp in stamps if stamp > now - HOUR)

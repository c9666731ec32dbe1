"""Whether the rounds of a pull request lead anywhere, told from the trajectory of its findings. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PING_PONG = 2  # times that one point was reopened


@dataclass(frozen=True, slots=True)
class Entry:
    """What was open at the entry of a round."""

    round: int
    open: int
    new: int = 0
    repeat: int = 0
    reopened: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Recurring:
    """A point that was reopened; ``told`` times when a person was last asked."""

    fingerprint: str
    reopened: int
    told: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Churn:
    """Why a person is asked; ``point`` is the one that keeps coming back."""

    reason: str  # stagnation, ping_pong
    point: Recurring | None = None


def churn_of(
    entries: Sequence[Entry], recurring: Sequence[Recurring], *, rounds: int, told_round: int = 0
) -> Churn | None:
    """Why the rounds lead nowhere, None while they do; ``rounds`` 0 never asks.

    ``entries`` are those of the generation, the oldest first. ``told_round`` is the round in which a person was last
    asked, 0 for never: stagnation is told again only after as many rounds more, a point only once it came back again.
    """
    if not rounds or not entries:
        return None
    worst = max(recurring, key=lambda each: each.reopened, default=None)
    back = [each for each in recurring if each.reopened >= PING_PONG and each.reopened > each.told]
    if back:
        return Churn("ping_pong", max(back, key=lambda each: each.reopened))
    if told_round and entries[-1].round - told_round < rounds:
        return None
    return Churn("stagnation", worst) if _stagnates(entries, rounds) else None


def _stagnates(entries: Sequence[Entry], rounds: int) -> bool:
    """Whether none of the last ``rounds`` entries had fewer open findings than the one before it, or none at all."""
    last = entries[-rounds - 1 :]
    if len(last) <= rounds:
        return False
    return all(now.open > 0 and now.open >= before.open for before, now in pairwise(last))

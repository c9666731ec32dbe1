"""How scarce a budget is, from what GitHub says is left and from what was spent in the last ten minutes. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from convergence.forge.governor.purposes import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

FORECAST_OVER = timedelta(minutes=10)
PLENTY, LAST = 0.50, 0.05  # shares of the hourly budget
SLACK = 0.05  # a level is left upwards only this much above its border, so that it does not flutter

Sample = tuple[float, int]  # (epoch seconds, used since the budget's last reset)


def level_of(*, limit: int, remaining: int, needed: float, reserve: float, before: Level = Level.NORMAL) -> Level:
    """Return the level of a budget; ``needed`` is the forecast until its reset, ``reserve`` a share of 0 to 1."""
    share = remaining / limit if limit else 1.0
    now = _plain(share, needed <= remaining, reserve)
    if now >= before:
        return now
    return min(before, _plain(share - SLACK, needed <= remaining - SLACK * limit, reserve))


def _plain(share: float, enough: bool, reserve: float) -> Level:  # noqa: FBT001 - one of three facts of a pure table
    if share < LAST:
        return Level.INTERACTIVE
    if share < reserve:
        return Level.RESERVE
    return Level.NORMAL if share >= PLENTY or enough else Level.SLOW


def forecast(samples: Sequence[Sample], *, used: int, now: datetime, reset_at: datetime) -> float:
    """Return what will be spent until the reset if it goes on as in the last ten minutes."""
    begun = [sample for sample in samples if sample[0] <= now.timestamp()]
    if not begun:
        return 0.0
    at, was = begun[0]
    seconds = max(now.timestamp() - at, FORECAST_OVER.total_seconds())
    return max(0, used - was) / seconds * max(0.0, (reset_at - now).total_seconds())


def sampled(samples: Sequence[Sample], *, used: int, now: datetime) -> tuple[Sample, ...]:
    """Return the samples with this one: those of the last ten minutes, and the newest one before them."""
    if samples and samples[-1][1] > used:
        samples = ()  # the budget was reset
    begin = (now - FORECAST_OVER).timestamp()
    older = [sample for sample in samples if sample[0] <= begin][-1:]
    newer = [sample for sample in samples if sample[0] > begin]
    return (*older, *newer, (round(now.timestamp(), 1), used))

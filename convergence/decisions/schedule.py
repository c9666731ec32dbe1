"""When the next look comes, and when a reviewer may be asked again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from convergence.flow import ConvergenceState as S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runs.contract.errors import Transient

RELOOK = timedelta(seconds=15)  # for want of facts, twice, then the flow goes on without them
RELOOK_MAX = 2
EFFECT_RELOOK = timedelta(seconds=5)  # while the product's own replies are under way
EFFECT_PATIENCE = timedelta(minutes=5)  # then the gate judges what it sees
HUSK_DELAYS = (timedelta(seconds=30), timedelta(seconds=120))
NUDGE_FLOOR = timedelta(seconds=60)  # never two requests to one reviewer within it, whatever the head
MISSING_TIMES = 3
MISSING_FOR = timedelta(minutes=10)
POLL_SPREAD = 0.1
HUSK_SPREAD = 0.2
AFTER_LIMIT = timedelta(seconds=30)
LONGEST_FORGE_PAUSE = timedelta(minutes=5)
HUMAN_POLLS = 5  # a question is looked at every fifth poll
FAILED_OUTCOME = "failed"


def spread(pause: timedelta, share: float) -> timedelta:
    """The pause, longer or shorter by up to ``share`` of it, so that rows do not march in step."""
    return pause * (1 + random.uniform(-share, share))  # noqa: S311  # spreading load is no secret


def poll_pause(state: str, poll_seconds: int) -> timedelta:
    """How long until the next look at a row that waits in this state."""
    polls = HUMAN_POLLS if state == S.AWAIT_ANSWER else 1
    return spread(timedelta(seconds=poll_seconds * polls), POLL_SPREAD)


def forge_pause(error: Transient) -> timedelta:
    """How long a row waits after the forge could not be asked; after a limit the rows come back spread over 30 s."""
    pause = timedelta(seconds=error.retry_after)
    if error.details.get("limited"):
        return pause + AFTER_LIMIT * random.random()  # noqa: S311  # spreading load is no secret
    return min(pause, LONGEST_FORGE_PAUSE)


def agent_time(limit: timedelta, extended_seconds: int) -> timedelta:
    """How long an agent step may take from its run's first claim: the limit, and what operators granted the run."""
    return limit + timedelta(seconds=extended_seconds)


def husk_pause(retries_before: int) -> timedelta:
    """How long a husk waits for its next start: 30 s, then 120 s, each ± 20 %."""
    return spread(HUSK_DELAYS[min(retries_before, len(HUSK_DELAYS) - 1)], HUSK_SPREAD)


def gone(count: int, since: datetime | None, now: datetime) -> bool:
    """Whether explicit not-found answers have come often and long enough to believe them."""
    return count >= MISSING_TIMES and since is not None and now - since >= MISSING_FOR


@dataclass(frozen=True, slots=True)
class Asked:
    """One earlier request to this reviewer."""

    head: str
    at: datetime
    outcome: str


def nudge_opens(earlier: Iterable[Asked], *, head: str, window: timedelta) -> datetime | None:
    """The instant from which the reviewer may be asked for a review of ``head``; None when nothing keeps it.

    Not within the window of the last request for the same head (one that never left does not count), for a new head
    at once, yet never twice within a minute.
    """
    opens_at: datetime | None = None
    for asked in earlier:
        counts = asked.head == head and asked.outcome != FAILED_OUTCOME
        at = asked.at + max(NUDGE_FLOOR, window if counts else NUDGE_FLOOR)
        opens_at = at if opens_at is None else max(opens_at, at)
    return opens_at

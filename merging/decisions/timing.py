"""When a merge flow looks again, how long it rests after a counted retry, and how its stall clock runs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from merging.decisions.mergeability import COMPUTING
from merging.flow import MergeState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from convergence.forge.checks import Check

RETRY_PAUSES = (5, 10, 20, 40, 60)  # seconds after the first, second, … counted retry; the last repeats
COMPUTING_LOOKS = (1, 2, 4, 5)  # seconds; the read itself makes the forge compute a missing mergeability
FIRST_LOOK = 1  # seconds from the first look at a state to the second
LANDING_LOOKS = (5, 15, 30, 60)  # seconds from the entry into verifying_landing
EFFECT_LIMIT = timedelta(minutes=2)  # a merge effect is read back by then
LANDING_LIMIT = timedelta(minutes=15)


def retry_pause(counted: int) -> timedelta:
    """Return the rest after the ``counted``-th counted retry, from 1 on."""
    return timedelta(seconds=RETRY_PAUSES[min(max(counted, 1), len(RETRY_PAUSES)) - 1])


def next_look(*, state: str, reason: str, looks: int, entered_at: datetime, now: datetime, poll: timedelta) -> datetime:
    """Return when to look again after a look that moved nothing; ``looks`` were made before it in this state.

    The poll interval is not spread here; that is the caller's.
    """
    if state == MergeState.VERIFYING_LANDING:
        left = (entered_at + timedelta(seconds=after) for after in LANDING_LOOKS)
        return next((instant for instant in left if instant > now), now + poll)
    if reason == COMPUTING and looks < len(COMPUTING_LOOKS):
        return now + timedelta(seconds=min(COMPUTING_LOOKS[looks], poll.total_seconds()))
    if looks == 0 and state in {MergeState.WAITING_DEPS, MergeState.WAITING_MERGE}:
        return now + min(timedelta(seconds=FIRST_LOOK), poll)
    return now + poll


def stall_clock(*, since: datetime, last_look_at: datetime, changed: bool, still: bool, now: datetime) -> datetime:
    """Return the instant from which the stall is counted: now after a change; moved along while it stands still."""
    if changed:
        return now
    if still:
        return min(since + max(now - last_look_at, timedelta()), now)
    return since


def checks_run(checks: Iterable[Check], *, entered_at: datetime, limit: timedelta, now: datetime) -> bool:
    """Whether a check is in flight and younger than ``limit``; one without a start counts from ``entered_at``.

    A suite of two hours is no stall, and a check that hangs is.
    """
    return any(now - (check.since or entered_at) < limit for check in checks)

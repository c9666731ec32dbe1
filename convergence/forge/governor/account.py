"""What is known of one resource of one credential, and how it changes. Pure: every change returns a new account.

Resources are ``core`` and ``graphql``, ``*`` for what concerns all, and ``writes`` for the pace of writes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from convergence.forge.governor.levels import Sample, forecast, level_of, sampled
from convergence.forge.governor.purposes import Level

CORE, GRAPHQL, ALL, WRITES = "core", "graphql", "*", "writes"
SECONDARY_FIRST, SECONDARY_MOST = 60, 900  # seconds of a block that GitHub does not time, doubling
PROBE_SECONDS = 90  # a probe that was killed lets another one go after it; longer than any request
OUTAGE_FIRST, OUTAGE_MOST = 5, 60  # seconds between requests of the patient while the forge is away, doubling
TOLD_AGAIN = timedelta(seconds=30)  # how stale the instant of the last success may be
NEGLIGIBLE = 0.01  # share of the limit that is not worth a write


@dataclass(frozen=True, slots=True)
class Account:
    """One row. ``level`` is that of the last answer; a budget whose reset has passed is full again."""

    limit: int | None = None
    remaining: int | None = None
    reset_at: datetime | None = None
    samples: tuple[Sample, ...] = ()
    level: Level = Level.NORMAL
    scarce_since: datetime | None = None  # since when the level has been reserve or worse
    blocked_until: datetime | None = None
    blocked_since: datetime | None = None
    block_code: str = ""
    block_message: str = ""
    probe_until: datetime | None = None
    secondary_seconds: int = 0
    failing_since: datetime | None = None
    failures: int = 0
    retry_at: datetime | None = None
    succeeded_at: datetime | None = None
    stamps: tuple[float, ...] = ()
    booked_until: float = 0.0
    batch_size: int | None = None
    defect: str = ""  # the last query that GitHub rejected as wrong: a defect of the product
    defect_at: datetime | None = None

    def level_at(self, now: datetime) -> Level:
        """The level now, without the block."""
        return Level.NORMAL if self.reset_at is None or now >= self.reset_at else self.level


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer's headers say of a budget."""

    limit: int
    remaining: int
    reset_at: datetime


def blocked(account: Account, *, until: datetime, now: datetime, code: str, message: str) -> Account:
    """Nothing is sent before ``until``; a longer block stays, and a probe that met it has ended."""
    if account.blocked_until is not None and account.blocked_until >= until:
        return replace(account, probe_until=None)
    return replace(
        account,
        blocked_until=until,
        blocked_since=account.blocked_since or now,
        block_code=code,
        block_message=message[:500],
        probe_until=None,
    )


def secondary(account: Account) -> Account:
    """The next length of a block that GitHub does not time stands in ``secondary_seconds``."""
    seconds = min(account.secondary_seconds * 2, SECONDARY_MOST) or SECONDARY_FIRST
    return replace(account, secondary_seconds=seconds)


def probing(account: Account, now: datetime) -> Account:
    """The one request after a block is on its way; unchanged when another one is."""
    if account.blocked_until is None or now < account.blocked_until:
        return account
    if account.probe_until is not None and now < account.probe_until:
        return account
    return replace(account, probe_until=now + timedelta(seconds=PROBE_SECONDS))


def probed(account: Account, *, good: bool) -> Account:
    """The probe came back: a good answer lifts the block, after any other the next request is the probe."""
    if account.probe_until is None:
        return account
    if not good:
        return replace(account, probe_until=None)
    return replace(
        account,
        blocked_until=None,
        blocked_since=None,
        block_code="",
        block_message="",
        probe_until=None,
        secondary_seconds=0,
    )


def told(account: Account, headers: Told, now: datetime, reserve: float) -> Account:
    """Take over what GitHub says is left; unchanged while it hardly differs."""
    used = headers.limit - headers.remaining
    fresh = account.reset_at is None or now >= account.reset_at
    samples = sampled(() if fresh else account.samples, used=used, now=now)
    level = level_of(
        limit=headers.limit,
        remaining=headers.remaining,
        needed=forecast(samples, used=used, now=now, reset_at=headers.reset_at),
        reserve=reserve,
        before=Level.NORMAL if fresh else account.level,
    )
    known = account.remaining if account.limit == headers.limit and not fresh else None
    if known is not None and level == account.level and abs(known - headers.remaining) <= NEGLIGIBLE * headers.limit:
        return account
    return replace(
        account,
        limit=headers.limit,
        remaining=headers.remaining,
        reset_at=headers.reset_at,
        samples=samples,
        level=level,
        scarce_since=None if level < Level.RESERVE else account.scarce_since or now,
    )


def succeeded(account: Account, now: datetime) -> Account:
    """The forge answered; unchanged when that is known already."""
    recently = account.succeeded_at is not None and now - account.succeeded_at < TOLD_AGAIN
    if account.failing_since is None and recently:
        return account
    return replace(account, succeeded_at=now, failing_since=None, failures=0, retry_at=None)


def failed(account: Account, now: datetime) -> Account:
    """The forge did not answer: the patient ask again after 5 s, doubling to a minute."""
    pause = min(OUTAGE_FIRST * 2 ** min(account.failures, 10), OUTAGE_MOST)
    return replace(
        account,
        failing_since=account.failing_since or now,
        failures=account.failures + 1,
        retry_at=now + timedelta(seconds=pause),
    )


def asking_again(account: Account, now: datetime) -> Account:
    """One of the patient asks whether the forge is back; unchanged while it is not time, or another one does."""
    if account.retry_at is None or now < account.retry_at:
        return account
    return replace(account, retry_at=now + timedelta(seconds=OUTAGE_MOST))

"""The one place that says whether a request may be sent now, and that learns from each answer.

Nothing here sleeps on a limit: whoever may not send gets ``Transient`` with the seconds until it may. The book is read
before each request, so that a block which another process met holds here too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from convergence.forge.governor import account as accounts
from convergence.forge.governor.account import ALL, GRAPHQL, WRITES, Account, Told
from convergence.forge.governor.in_flight import InFlight
from convergence.forge.governor.pace import Pace, kept, next_write
from convergence.forge.governor.purposes import PATIENT, POLL_FACTORS, SERVED_TO, Level, Purpose
from runs.contract.errors import FactoryError, Permanent, Transient

if TYPE_CHECKING:
    from convergence.forge.governor.book import Book

UNAUTHORISED_PROBE = timedelta(minutes=5)  # one request each five minutes asks whether the token works again
PROBE_WAIT = 1.0  # seconds that the others wait for the first request after a block
SCARCE_WAIT = 300.0  # seconds until a purpose that is not served looks again, at most

Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Ask:
    """One request that wants to leave. ``creates``: it makes content, which GitHub counts by the minute."""

    credential: str
    resource: str
    purpose: Purpose
    creates: bool = False


class Governor:
    """Admits requests of one process under the accounts that all processes share. Safe for threads."""

    def __init__(
        self, book: Book, *, now: Now, most_in_flight: int = 4, reserve: float = 0.2, pace: Pace | None = None
    ) -> None:
        """``reserve`` is the share of the hourly budget that is kept for people and for what has begun."""
        self.book = book
        self.in_flight = InFlight(most_in_flight)
        self._now = now
        self._reserve = reserve
        self._pace = pace or Pace()
        self._levels: dict[tuple[str, str], Level] = {}
        self._away: set[tuple[str, str]] = set()

    @contextmanager
    def admitted(self, ask: Ask) -> Iterator[None]:
        """Hold the right to send; raises the error of whatever forbids it, and learns how the request ended."""
        with self.in_flight.place(ask.purpose):
            probes = self._admit(ask)
            begun = time.monotonic()
            good = False
            try:
                yield
                good = True
            except Transient:
                raise  # it may have had its effect
            except BaseException as error:
                # A refusal of this one thing is an answer all the same, and it created nothing.
                good = isinstance(error, FactoryError) and error.code != "forge_unauthorised"
                self._unstamp(ask)
                raise
            finally:
                for resource in probes:
                    self.book.change(ask.credential, resource, lambda known: accounts.probed(known, good=good))
                if ask.resource == GRAPHQL:
                    self.in_flight.took(time.monotonic() - begun)

    def answered(self, ask: Ask, headers: Told | None) -> None:
        """Take over what an answer says of the budget, and that the forge is there."""
        now = self._now()

        def learn(known: Account) -> Account:
            after = accounts.succeeded(known, now)
            return after if headers is None else accounts.told(after, headers, now, self._reserve)

        after = self._change_if(ask, learn)
        self._levels[(ask.credential, ask.resource)] = after.level_at(now)
        self._away.discard((ask.credential, ask.resource))

    def failed(self, ask: Ask) -> None:
        """Note that the forge did not answer: the patient ask less often until it does."""
        self._away.add((ask.credential, ask.resource))
        self.book.change(ask.credential, ask.resource, lambda known: accounts.failed(known, self._now()))

    def is_away(self, ask: Ask) -> bool:
        """Whether the last request of this process for this resource was not answered."""
        return (ask.credential, ask.resource) in self._away

    def block(self, ask: Ask, until: datetime, error: FactoryError, *, everything: bool) -> None:
        """Send nothing before ``until``, in no process; a longer block stays."""
        now = self._now()
        self.book.change(
            ask.credential,
            ALL if everything else ask.resource,
            lambda known: accounts.blocked(known, until=until, now=now, code=error.code, message=error.message),
        )

    def next_secondary(self, credential: str) -> timedelta:
        """Return the next length of a block that GitHub did not time: 60 s, doubling to 15 min while it repeats."""
        _, after = self.book.change(credential, ALL, accounts.secondary)
        return timedelta(seconds=after.secondary_seconds)

    def defective(self, ask: Ask, message: str) -> None:
        """Note that GitHub rejects a query of the product as wrong."""
        now = self._now()
        self.book.change(
            ask.credential, ask.resource, lambda known: replace(known, defect=message[:500], defect_at=now)
        )

    def batch_sized(self, credential: str, size: int) -> None:
        """Keep for pages how many pull requests a document asks for."""
        self.book.change(credential, GRAPHQL, lambda known: replace(known, batch_size=size))

    def poll_factor(self, credential: str) -> int:
        """How many times longer the interval between two polls is now, as of the last answer to a query."""
        return POLL_FACTORS[self._levels.get((credential, GRAPHQL), Level.NORMAL)]

    def _admit(self, ask: Ask) -> list[str]:
        """Raise what forbids the request, or return the resources whose block it probes."""
        now = self._now()
        known = self.book.read(ask.credential)
        for resource in (ALL, ask.resource):
            account = known.get(resource)
            if account is not None and account.blocked_until is not None and now < account.blocked_until:
                raise _as_of(account, account.blocked_until, (account.blocked_until - now).total_seconds())
        self._scarce(ask, known.get(ask.resource, Account()), now)
        if ask.creates:
            self._stamp(ask, now)
        probes = [each for each in (ALL, ask.resource) if each in known and known[each].blocked_until is not None]
        for resource in probes:
            self._probe(ask, resource, now)
        return probes

    def _probe(self, ask: Ask, resource: str, now: datetime) -> None:
        """Be the one request after a block, or raise because another one is."""
        before, after = self.book.change(ask.credential, resource, lambda known: accounts.probing(known, now))
        if before == after and after.blocked_until is not None:
            self._unstamp(ask)
            raise _as_of(after, after.blocked_until, PROBE_WAIT)

    def _scarce(self, ask: Ask, account: Account, now: datetime) -> None:
        """Raise when this purpose is not served while so little is left, or while the forge does not answer."""
        level = account.level_at(now)
        self._levels[(ask.credential, ask.resource)] = level
        if level > SERVED_TO[ask.purpose]:
            left = (account.reset_at - now).total_seconds() if account.reset_at else SCARCE_WAIT
            text = f"GitHub's budget is nearly spent ({account.remaining} of {account.limit} left)"
            details = {"limited": True, "level": level.word}
            raise Transient("forge_limited", text, retry_after=min(left, SCARCE_WAIT), details=details)
        if ask.purpose not in PATIENT:
            return
        if account.failing_since is not None:
            self._away.add((ask.credential, ask.resource))
            before, after = self.book.change(
                ask.credential, ask.resource, lambda known: accounts.asking_again(known, now)
            )
            if before == after and after.retry_at is not None:
                raise _away(after, now)
        pause = self.in_flight.pause() if ask.resource == GRAPHQL else 0.0
        if pause:
            details = {"limited": True}
            raise Transient("forge_limited", "queries keep GitHub too busy", retry_after=pause, details=details)

    def _stamp(self, ask: Ask, now: datetime) -> None:
        """Take the next place among the writes, or raise with the seconds until there is one."""
        at = now.timestamp()

        def take(known: Account) -> Account:
            stamps = kept(known.stamps, at)
            first = next_write(stamps, self._pace)
            if first <= at:
                return replace(known, stamps=(*stamps, round(at, 3)))
            return replace(known, booked_until=max(first, known.booked_until + self._pace.apart))

        before, after = self.book.change(ask.credential, WRITES, take)
        if after.booked_until != before.booked_until:
            pause = after.booked_until - at
            text = "writes to GitHub wait for each other"
            raise Transient("forge_limited", text, retry_after=pause, details={"limited": True, "paced": True})

    def _unstamp(self, ask: Ask) -> None:
        """Give the place among the writes back: what was refused has created nothing."""
        if ask.creates:
            self.book.change(ask.credential, WRITES, lambda known: replace(known, stamps=known.stamps[:-1]))

    def _change_if(self, ask: Ask, change: Callable[[Account], Account]) -> Account:
        """Apply a change whose loss would not matter only where it changes something."""
        known = self.book.read(ask.credential).get(ask.resource, Account())
        if change(known) == known:
            return known
        return self.book.change(ask.credential, ask.resource, change)[1]


def _as_of(account: Account, until: datetime, seconds: float) -> FactoryError:
    if account.block_code == "forge_unauthorised":
        return Permanent(account.block_code, account.block_message)
    details = {"blocked_until": until.isoformat(), "limited": True}
    return Transient(account.block_code or "forge_limited", account.block_message, retry_after=seconds, details=details)


def _away(account: Account, now: datetime) -> Transient:
    since = account.failing_since or now
    left = (account.retry_at - now).total_seconds() if account.retry_at else float(accounts.OUTAGE_MOST)
    text = f"GitHub has not answered since {since:%H:%M:%S} UTC"
    return Transient("forge_unavailable", text, retry_after=max(1.0, left), details={"sent": False, "away": True})

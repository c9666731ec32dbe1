"""When may a credential be used again: blocks that GitHub set, shared by all threads of this process.

A block covers one resource (``core``, ``graphql``) or all (``*``). While it lasts nothing is sent. After it one
request goes first; the others go when that one was answered.
"""

import random
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from convergence.forge.wire.transport import Exchange
from runs.contract.errors import FactoryError, Permanent, Transient

ALL = "*"
SECONDARY_FIRST = timedelta(seconds=60)  # GitHub's advice where it names no time
SECONDARY_MOST = timedelta(minutes=15)
UNAUTHORISED_PROBE = timedelta(minutes=5)  # one request each five minutes asks whether the token works again
PROBE_WAIT_SECONDS = 1.0  # how long the others wait for the first request after a block

_random = random.SystemRandom()


@dataclass(slots=True)
class _Block:
    until: datetime
    error: FactoryError
    probing: bool = False


class LimitBook:
    """Blocks by (credential, resource). Safe for threads; never sleeps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: dict[tuple[str, str], _Block] = {}
        self._secondary: dict[str, timedelta] = {}

    def admit(self, credential: str, resource: str, now: datetime) -> None:
        """Return if a request may be sent now, as the probe where a block has just ended; else raise its error."""
        with self._lock:
            for key in ((credential, ALL), (credential, resource)):
                block = self._blocks.get(key)
                if block is None:
                    continue
                if now < block.until:
                    raise _as_of(block, (block.until - now).total_seconds())
                if block.probing:
                    raise _as_of(block, PROBE_WAIT_SECONDS)
            for key in ((credential, ALL), (credential, resource)):
                if key in self._blocks:
                    self._blocks[key].probing = True

    def answered(self, credential: str, resource: str, *, good: bool) -> None:
        """End the probe: a good answer lifts the block, any other lets the next request be the probe."""
        with self._lock:
            for key in ((credential, ALL), (credential, resource)):
                block = self._blocks.get(key)
                if block is None or not block.probing:
                    continue
                if good:
                    del self._blocks[key]
                    self._secondary.pop(credential, None)
                else:
                    block.probing = False

    def block(self, credential: str, resource: str, until: datetime, error: FactoryError) -> None:
        """Send nothing before ``until``; raises nothing itself. A longer block stays."""
        with self._lock:
            known = self._blocks.get((credential, resource))
            if known is None or known.until < until:
                self._blocks[(credential, resource)] = _Block(until=until, error=error)
            else:
                known.probing = False

    def next_secondary(self, credential: str) -> timedelta:
        """Return the next length of a block that GitHub did not time: 60 s, doubling to 15 min."""
        with self._lock:
            known = self._secondary.get(credential)
            length = SECONDARY_FIRST if known is None else min(known * 2, SECONDARY_MOST)
            self._secondary[credential] = length
            return length


def _as_of(block: _Block, seconds: float) -> FactoryError:
    error = block.error
    if isinstance(error, Transient):
        details = {**error.details, "blocked_until": block.until.isoformat()}
        return Transient(error.code, error.message, retry_after=seconds, details=details)
    return type(error)(error.code, error.message, details=error.details)


def unauthorised(message: str) -> Permanent:
    """The error of a token that GitHub does not accept."""
    return Permanent("forge_unauthorised", f"GitHub does not accept the token: {message}")


def limit_until(
    exchange: Exchange, message: str, now: datetime, book: LimitBook, credential: str
) -> tuple[datetime, bool] | None:
    """Return (end of the block, whether it covers every resource) if a 403 or 429 is a limit, else ``None``."""
    status, headers = exchange.status, exchange.headers
    if status not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
        return None
    wait = _seconds(headers.get("Retry-After"))
    if wait is not None:
        return now + timedelta(seconds=wait * (1 + _random.uniform(0, 0.1))), True
    if headers.get("X-RateLimit-Remaining") == "0":
        reset = _seconds(headers.get("X-RateLimit-Reset"))
        if reset is not None:
            return after_reset(reset), False
    words = message.lower()
    if "secondary rate limit" in words or "abuse detection" in words:
        return now + book.next_secondary(credential), True
    if status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit exceeded" in words:
        return now + SECONDARY_FIRST, False
    return None


def after_reset(reset: float) -> datetime:
    """The instant at which a spent budget is used again: 1 to 5 s after the reset that GitHub names (epoch seconds)."""
    return datetime.fromtimestamp(reset, UTC) + timedelta(seconds=_random.uniform(1, 5))


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None

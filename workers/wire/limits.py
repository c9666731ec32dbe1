"""How often and how much at once: limits that one web process keeps in memory."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from runs.contract.errors import Transient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REQUESTS_PER_SECOND = 1000.0  # of one credential, which all workers of a node share
BURST = 2000.0  # requests that a quiet credential may send at once
UPLOADS_AT_ONCE = 4  # of one credential
BAD_TOKENS = 20  # of one address within BAD_TOKEN_SECONDS
BAD_TOKEN_SECONDS = 60.0
FORGET_ABOVE = 1000  # entries; above it, what a full bucket or an old window holds is dropped


class RequestRate:
    """A bucket of requests for each credential, refilled at a steady rate; safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._left: dict[int, tuple[float, float]] = {}

    def take(self, credential: int) -> None:
        """Count one request; ``Transient`` (``rate_limited``) with the seconds until the next one may come."""
        at = self._clock()
        with self._lock:
            left, since = self._left.get(credential, (BURST, at))
            left = min(BURST, left + (at - since) * REQUESTS_PER_SECOND)
            if left < 1:
                self._left[credential] = (left, at)
                wait = (1 - left) / REQUESTS_PER_SECOND
                raise Transient(
                    "rate_limited",
                    f"this credential sends more than {REQUESTS_PER_SECOND:.0f} requests a second",
                    retry_after=wait,
                )
            self._left[credential] = (left - 1, at)

    def clear(self) -> None:
        """Forget everything, as a new process would."""
        with self._lock:
            self._left.clear()


class BadTokens:
    """The bad tokens of each address within the last minute; safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[str, deque[float]] = defaultdict(deque)

    def count(self, address: str) -> None:
        """Count one bad token; ``Transient`` (``rate_limited``) beyond the limit, until the oldest is a minute old."""
        at = self._clock()
        with self._lock:
            if len(self._seen) > FORGET_ABOVE:
                self._drop_old(at)
            seen = self._seen[address]
            while seen and at - seen[0] >= BAD_TOKEN_SECONDS:
                seen.popleft()
            if len(seen) >= BAD_TOKENS:
                wait = BAD_TOKEN_SECONDS - (at - seen[0])
                raise Transient("rate_limited", "too many bad tokens from this address", retry_after=wait)
            seen.append(at)

    def clear(self) -> None:
        """Forget everything, as a new process would."""
        with self._lock:
            self._seen.clear()

    def _drop_old(self, at: float) -> None:
        for address in [name for name, seen in self._seen.items() if at - seen[-1] >= BAD_TOKEN_SECONDS]:
            del self._seen[address]


class Uploads:
    """The uploads of each credential that are on their way; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[int, int] = defaultdict(int)

    @contextlib.contextmanager
    def one(self, credential: int) -> Iterator[None]:
        """Hold one of the four places; ``Transient`` (``rate_limited``) when all are taken."""
        with self._lock:
            if self._running[credential] >= UPLOADS_AT_ONCE:
                raise Transient("rate_limited", f"this credential has {UPLOADS_AT_ONCE} uploads on their way already")
            self._running[credential] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[credential] -= 1


request_rate = RequestRate()
bad_tokens = BadTokens()
uploads = Uploads()

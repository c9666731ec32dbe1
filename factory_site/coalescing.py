"""Nudges in a burst are one nudge now and one at the end: each costs a message, and its pass takes what it finds."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = 0.1  # seconds; the consumer looks for messages about as often


class Coalesced:
    """Calls ``start`` with a name at once, and within the next ``window`` seconds only once more, at their end."""

    def __init__(self, start: Callable[[str], object], window: float = WINDOW) -> None:
        self._start = start
        self._window = window
        self._lock = threading.Lock()
        self._last: dict[str, float] = {}
        self._waiting: set[str] = set()

    def __call__(self, name: str) -> None:
        """Start it, now or at the end of the window that another call began."""
        at = time.monotonic()
        with self._lock:
            if name in self._waiting:
                return
            left = self._last.get(name, -self._window) + self._window - at
            if left > 0:
                self._waiting.add(name)
            else:
                self._last[name] = at
        if left <= 0:
            self._start(name)
            return
        timer = threading.Timer(left, self._late, (name,))
        timer.daemon = True  # what a nudge would have started is due anyway
        timer.start()

    def _late(self, name: str) -> None:
        with self._lock:
            self._waiting.discard(name)
            self._last[name] = time.monotonic()
        self._start(name)

"""Ending a wait from elsewhere: a successor's request, or the end of the process."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class WaitEnd:
    """Set once; it sets the event of whoever waits under it, so that five hundred waits are five hundred sleeps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._events: set[threading.Event] = set()

    def set(self) -> None:
        """End the wait that is under way, and every later one at once."""
        with self._lock:
            self._set = True
            events = list(self._events)
        for event in events:
            event.set()

    def is_set(self) -> bool:
        """Whether the end was asked for."""
        return self._set

    @contextmanager
    def ends(self, event: threading.Event) -> Iterator[None]:
        """While the block lasts, ``set`` sets this event too; at once when it came before."""
        with self._lock:
            self._events.add(event)
            if self._set:
                event.set()
        try:
            yield
        finally:
            with self._lock:
                self._events.discard(event)

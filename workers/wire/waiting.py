"""Requests whose answer is held: a bounded number in each web process, each ended by a successor or by a shutdown.

A held request owns one thread, and neither a transaction nor a database connection.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from runs.queue.wait_end import WaitEnd
from workers.wire.policy import wait_slots

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator


class Waiting:
    """The held requests of one process, claims and heartbeats together; safe for threads."""

    def __init__(self, slots: Callable[[], int]) -> None:
        self._slots = slots
        self._lock = threading.Lock()
        self._held: dict[WaitEnd, Hashable] = {}
        self._stopping = False

    @contextlib.contextmanager
    def place(self, key: Hashable) -> Iterator[WaitEnd | None]:
        """Give what ends this wait, or None when every slot is taken.

        It is set by ``displace`` of the same key and by ``stop_all``.
        """
        ended = WaitEnd()
        with self._lock:
            if self._stopping:
                ended.set()
            free = len(self._held) < self._slots()
            if free:
                self._held[ended] = key
        try:
            yield ended if free else None
        finally:
            with self._lock:
                self._held.pop(ended, None)

    def displace(self, key: Hashable) -> None:
        """End the waits of this key: a newer request has taken their place."""
        with self._lock:
            for ended, held in self._held.items():
                if held == key:
                    ended.set()

    def count(self) -> int:
        """How many requests are held now."""
        with self._lock:
            return len(self._held)

    @property
    def stopping(self) -> bool:
        """Whether the process is about to end."""
        return self._stopping

    def stop_all(self) -> None:
        """End every wait, and every one that begins later at once: the process is about to end."""
        with self._lock:
            self._stopping = True
            for ended in self._held:
                ended.set()

    def open_again(self) -> None:
        """Take back ``stop_all``, for a process that stays."""
        with self._lock:
            self._stopping = False


WAITING = Waiting(wait_slots)
stop_all = WAITING.stop_all

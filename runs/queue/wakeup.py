"""Waiting for work without a connection: one watcher thread a process looks once for all who wait for the same.

A woken request looks for itself, so a wake-up too many costs a look, and one too few costs the fallback.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import close_old_connections, connection, connections

from runs.models import Attempt
from runs.queue.changes import ticks
from runs.queue.claimable import claimable
from runs.queue.placement import offer_key

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from runs.contract.placement import Offer
    from runs.queue.wait_end import WaitEnd

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Waiter:
    """One held request."""

    offer: Offer | None = None
    attempt_id: int = 0
    seen_control_seq: int = 0
    event: threading.Event = field(default_factory=threading.Event)


Group = tuple[object, ...]  # node and offer: those who could take the same runs


class Watcher:
    """The waiters of one process, and the thread that looks for them; the thread ends with the last waiter."""

    def __init__(self, moments: Callable[[], Generator[bool]] = ticks) -> None:
        """``moments`` yields True when it is time to look; `looks` counts how often this watcher did."""
        self.looks = 0
        self._moments = moments
        self._lock = threading.Lock()
        self._claims: dict[Group, deque[_Waiter]] = {}
        self._controls: set[_Waiter] = set()
        self._thread: threading.Thread | None = None

    def wait_for_claim(self, offer: Offer, node: str, timeout: float, stop: WaitEnd | None = None) -> bool:
        """Return True when a run that this offer can take may be there, False after ``timeout`` seconds or a stop.

        Closes this thread's database connection while it waits. Of the waiters of one node with equal offers, at most
        as many are woken as there are candidates, the longest waiting first.
        """
        waiter = _Waiter(offer=offer)
        group = (node, *offer_key(offer))
        with self._lock:
            self._claims.setdefault(group, deque()).append(waiter)
            self._ensure_thread()
        try:
            # A run that was committed between the caller's own look and the registration is seen here.
            return bool(claimable(offer, node=node).count) or _held(waiter.event, timeout, stop)
        finally:
            with self._lock:
                self._leave(group, waiter)

    def wait_for_control(
        self, attempt_id: int, seen_control_seq: int, timeout: float, stop: WaitEnd | None = None
    ) -> bool:
        """Return True when a cancel or extension of the attempt was committed after ``seen_control_seq``."""
        waiter = _Waiter(attempt_id=attempt_id, seen_control_seq=seen_control_seq)
        with self._lock:
            self._controls.add(waiter)
            self._ensure_thread()
        try:
            return bool(_with_news([waiter])) or _held(waiter.event, timeout, stop)
        finally:
            with self._lock:
                self._controls.discard(waiter)

    def held_count(self) -> int:
        """How many requests wait in this process."""
        with self._lock:
            return sum(len(waiters) for waiters in self._claims.values()) + len(self._controls)

    def _ensure_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="wake-up", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        try:
            with closing(self._moments()) as moments:
                for due in moments:
                    if self._is_over():
                        return
                    if due:
                        self._look()
        except Exception:  # noqa: BLE001  # the next waiter starts a new thread
            _log.exception("the watcher ended")
            with self._lock:
                self._thread = None
        finally:
            connections.close_all()

    def _is_over(self) -> bool:
        with self._lock:
            over = not self._claims and not self._controls
            if over:
                self._thread = None
            return over

    def _look(self) -> None:
        """One probe for each distinct waiting offer, one query for all held heartbeats."""
        with self._lock:
            groups = [(group, waiters[0].offer, len(waiters)) for group, waiters in self._claims.items()]
            controls = list(self._controls)
        try:
            for group, offer, count in groups:
                if offer is not None:
                    self._wake_claims(group, claimable(offer, node=str(group[0]), limit=count).count)
            for waiter in _with_news(controls):
                waiter.event.set()
            self.looks += 1
        except Exception:  # noqa: BLE001  # a look that fails must not end the waiting of everybody
            _log.warning("the wake-up look failed", exc_info=True)
            close_old_connections()

    def _wake_claims(self, group: Group, candidates: int) -> None:
        with self._lock:
            for waiter in list(self._claims.get(group, ()))[:candidates]:
                waiter.event.set()
                self._leave(group, waiter)

    def _leave(self, group: Group, waiter: _Waiter) -> None:
        waiters = self._claims.get(group)
        if waiters is None:
            return
        with suppress(ValueError):
            waiters.remove(waiter)
        if not waiters:
            del self._claims[group]


WATCHER = Watcher()
wait_for_claim = WATCHER.wait_for_claim
wait_for_control = WATCHER.wait_for_control


def _with_news(waiters: list[_Waiter]) -> list[_Waiter]:
    if not waiters:
        return []
    keys = {waiter.attempt_id for waiter in waiters}
    current = dict(Attempt.objects.filter(pk__in=keys).values_list("pk", "control_seq"))
    return [waiter for waiter in waiters if current.get(waiter.attempt_id, 0) > waiter.seen_control_seq]


def _held(event: threading.Event, timeout: float, stop: WaitEnd | None) -> bool:
    """Wait without a database connection; what a caller's open transaction holds stays, for it is still needed."""
    if not connection.in_atomic_block:
        getattr(connection, "set_aside", connection.close)()
    if stop is None:
        return event.wait(timeout)
    with stop.ends(event):
        return event.wait(timeout) and not stop.is_set()

"""How many requests of one process are on their way at once, and how long queries kept the forge busy."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from convergence.forge.governor.purposes import PATIENT, Purpose
from runs.contract.errors import Transient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PERSON_WAITS, OTHERS_WAIT = 5.0, 30.0  # seconds until a place is given up
BUSY_WINDOW, MOST_BUSY = 60.0, 40.0  # seconds of answer time in each minute; GitHub allows 60 s of its own


class InFlight:
    """Places for requests: half of them for the patient, one kept for people. Safe for threads."""

    def __init__(self, most: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        """``most`` requests at once."""
        self._most = most
        self._monotonic = monotonic
        self._free = threading.Condition()
        self._held = 0
        self._patient = 0
        self._busy: deque[tuple[float, float]] = deque()  # (ended at, seconds) of queries

    @contextmanager
    def place(self, purpose: Purpose) -> Iterator[None]:
        """Hold a place; ``Transient`` ``forge_busy`` when none comes free in time."""
        patient = purpose in PATIENT
        waits = PERSON_WAITS if purpose is Purpose.PERSON else OTHERS_WAIT
        with self._free:
            if not self._free.wait_for(lambda: self._fits(purpose), waits):
                raise Transient("forge_busy", "every connection to GitHub is taken by a request that hangs")
            self._held += 1
            self._patient += patient
        try:
            yield
        finally:
            with self._free:
                self._held -= 1
                self._patient -= patient
                self._free.notify_all()

    def took(self, seconds: float) -> None:
        """Note how long GitHub worked on a query."""
        with self._free:
            self._busy.append((self._monotonic(), seconds))

    def pause(self) -> float:
        """Return for how many seconds batches wait, because queries kept the forge busy; 0 when they need not."""
        with self._free:
            begin = self._monotonic() - BUSY_WINDOW
            while self._busy and self._busy[0][0] <= begin:
                self._busy.popleft()
            if sum(seconds for _, seconds in self._busy) <= MOST_BUSY:
                return 0.0
            return self._busy[0][0] - begin

    def _fits(self, purpose: Purpose) -> bool:
        if purpose is Purpose.PERSON:
            return self._held < self._most
        if purpose in PATIENT and self._patient >= max(1, self._most // 2):
            return False
        return self._held < max(1, self._most - 1)

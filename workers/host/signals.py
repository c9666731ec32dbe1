"""Signals of one worker: the first drains, the second ends, and none interrupts a write."""

import logging
import signal
import threading
from collections.abc import Callable
from types import FrameType

from workers.host.client import elapsed

EXIT_DRAINED = 0
EXIT_SECOND_SIGNAL = 130
SECOND_SIGNAL_SECONDS = 2.0  # for the report of an attempt after a second signal

log = logging.getLogger(__name__)


class Signals:
    """Counts SIGTERM and SIGINT; ``changed`` is set at each of them."""

    def __init__(self) -> None:
        """Nothing came yet."""
        self.count = 0
        self.first_at: float | None = None
        self.second_at: float | None = None
        self.changed = threading.Event()
        self._on_hangup: Callable[[], object] = lambda: None

    def install(self, on_hangup: Callable[[], object]) -> None:
        """Take over the signals of this process; SIGHUP reads the credential file again."""
        self._on_hangup = on_hangup
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        signal.signal(signal.SIGHUP, self._hangup)

    def pause(self, seconds: float) -> bool:
        """Sleep, unless a signal comes; True if one has come."""
        return self.changed.wait(seconds)

    def pause_sending(self, seconds: float) -> bool:
        """Sleep between two tries to send an outcome; True when a second signal's time is over."""
        until = elapsed() + seconds
        while (left := until - elapsed()) > 0:
            if self.second_at is not None and elapsed() - self.second_at >= SECOND_SIGNAL_SECONDS:
                return True
            threading.Event().wait(min(left, 0.1))
        return False

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self.first_at is None:
            self.first_at = elapsed()
        elif self.second_at is None:
            self.second_at = elapsed()
        self.changed.set()

    def _hangup(self, _number: int, _frame: FrameType | None) -> None:
        self._on_hangup()

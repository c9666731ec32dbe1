"""The eyes of a running attempt: signals, lease, budget and deadline, looked at several times a second."""

import threading

from workers.host.attempt.heartbeats import Heartbeats
from workers.host.attempt.stop import Stop, StopReason
from workers.host.client import elapsed
from workers.host.host import Host

LOOK_SECONDS = 0.1


class Watch:
    """Stops the attempt when its time, its money or its worker ends. A thread of its own."""

    def __init__(self, host: Host, heartbeats: Heartbeats, stop: Stop) -> None:
        """Begins to look at once."""
        self._host = host
        self._heartbeats = heartbeats
        self._stop = stop
        self._ended = threading.Event()
        self._asking = threading.Event()
        self.agent_runs = False
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Nothing is stopped any more."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            now = elapsed()
            self._look_at_signals(now)
            if now >= self._heartbeats.lease_over:
                self._stop.because(StopReason.LEASE_OVER)
            if self._heartbeats.over_budget():
                self._stop.because(StopReason.BUDGET)
            deadline = self._heartbeats.agent_deadline
            if self.agent_runs and deadline is not None and now >= deadline and not self._asking.is_set():
                self._asking.set()
                threading.Thread(target=self._ask, name="deadline", daemon=True).start()

    def _look_at_signals(self, now: float) -> None:
        signals = self._host.signals
        if signals.second_at is not None:
            self._stop.because(StopReason.DRAIN, no_grace=True)
        elif signals.first_at is not None and now - signals.first_at >= self._host.options.drain_timeout:
            self._stop.because(StopReason.DRAIN)

    def _ask(self) -> None:
        if not self._heartbeats.ask_deadline():
            self._stop.because(StopReason.DEADLINE)
        self._asking.clear()

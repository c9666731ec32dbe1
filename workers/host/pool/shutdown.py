"""The end of a supervisor, rung by rung: ask, tell, leave to the reaper. It kills nobody and loses no run."""

import logging
import signal
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from runs.contract.instants import format_instant
from runs.contract.pool import REPORT_SECONDS
from workers.host.disk.boots import boot_of, read_holding
from workers.host.pool.run_folder import Slot
from workers.host.pool.supervisor import LOOK_SECONDS, Supervisor
from workers.host.process.identity import send_signal
from workers.host.signals import EXIT_DRAINED, EXIT_SECOND_SIGNAL

DRAIN_MARGIN = 15.0  # seconds beyond a worker's own drain for its report and its way out
LOST_AFTER = timedelta(seconds=95)  # liveness and one look of the reaper, where the control plane did not say

log = logging.getLogger(__name__)


class Shutdown:
    """Ends a pool; a second signal goes on to the second rung and leaves at once."""

    def __init__(self, supervisor: Supervisor) -> None:
        """Nothing is asked yet."""
        self._supervisor = supervisor
        self._liveness: float | None = None

    def run(self) -> int:
        """The exit code: 0 in order, 130 after a second signal."""
        drain = self._supervisor.options.worker.drain_timeout
        self._say(1, "drain_files", drain)
        for slot in self._supervisor.living():
            self._supervisor.run_folder.ask_to_leave(slot.number, "stopping")
        self._until_gone(drain)
        if slots := self._supervisor.living():
            self._say(2, "sigterm", drain + DRAIN_MARGIN)
            for slot in slots:
                send_signal(slot.process, signal.SIGTERM)
            self._until_gone(drain + DRAIN_MARGIN)
        left = self._supervisor.living()
        self._supervisor.ask(left, stopping=True)
        for slot in left:
            self._leave(slot)
        log.info("event=stopped left=%d", len(left))
        return EXIT_SECOND_SIGNAL if self._hurried else EXIT_DRAINED

    @property
    def _hurried(self) -> bool:
        return self._supervisor.signals.count > 1

    def _until_gone(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        report_at = 0.0
        while time.monotonic() < until and not self._hurried:
            self._supervisor.dead.bury()
            slots = self._supervisor.run_folder.slots()
            if not slots:
                return
            if time.monotonic() >= report_at:
                self._report(slots)
                report_at = time.monotonic() + REPORT_SECONDS
            time.sleep(LOOK_SECONDS)

    def _report(self, slots: Sequence[Slot]) -> None:
        counts = self._supervisor.ask(slots, stopping=True)
        if counts is not None:
            self._liveness = counts.liveness

    def _say(self, rung: int, does: str, lasts: float) -> None:
        log.info("event=stopping rung=%d does=%s lasts_s=%.0f", rung, does, lasts)
        for slot in self._supervisor.living():
            log.info("event=stopping rung=%d worker=%s slot=%d run=%s", rung, slot.worker_id or "unknown", slot.number,
                     self._run_of(slot))  # fmt: skip

    def _leave(self, slot: Slot) -> None:
        patience = LOST_AFTER if self._liveness is None else timedelta(seconds=self._liveness + 5)
        log.warning("left to the reaper: %s, %s, back in the queue by %s", slot.worker_id or f"slot {slot.number}",
                    self._run_of(slot), format_instant(datetime.now(UTC) + patience))  # fmt: skip

    def _run_of(self, slot: Slot) -> str:
        folder = boot_of(self._supervisor.dead.home, slot.process)
        holding = read_holding(folder) if folder is not None else None
        return holding.run_id if holding is not None else "none"

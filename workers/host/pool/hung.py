"""Workers that live and do not speak: when each is told to end, and when it is killed. Times are monotonic seconds."""

import signal
from dataclasses import dataclass, field

from workers.host.pool.report import Counts
from workers.host.pool.run_folder import Slot
from workers.host.process.identity import ProcessId

USUAL_LIVENESS = 90.0  # seconds of silence that lose a worker, which the two lengths below go with
REPLACED_AFTER = 120.0  # seconds that the registry has called it lost
KILLED_AFTER = 30.0  # seconds after it was told to end


@dataclass(frozen=True, slots=True)
class Due:
    """A signal that a slot's process gets now."""

    slot: Slot
    number: int


@dataclass(slots=True)
class Hung:
    """Since when each process has been lost, and since when it has been told to end."""

    _lost: dict[ProcessId, float] = field(default_factory=dict)
    _told: dict[ProcessId, float] = field(default_factory=dict)

    def due(self, slots: list[Slot], counts: Counts | None, now: float) -> Due | None:
        """The next signal that is due, noted as sent; None while the counts are unknown.

        A worker whose attempt was not taken back yet is left alone: it may still publish.
        """
        if counts is None:
            return None
        for gone in set(self._lost) - {slot.process for slot in slots}:
            self._forget(gone)
        share = counts.liveness / USUAL_LIVENESS
        for slot in slots:
            said = counts.workers.get(slot.worker_id or "")
            if said is None or not said.lost or said.holds_attempt:
                self._forget(slot.process)
                continue
            since = self._lost.setdefault(slot.process, now)
            told = self._told.get(slot.process)
            if told is None and now - since >= REPLACED_AFTER * share:
                self._told[slot.process] = now
                return Due(slot, signal.SIGTERM)
            if told is not None and now - told >= KILLED_AFTER * share:
                return Due(slot, signal.SIGKILL)
        return None

    def _forget(self, process: ProcessId) -> None:
        self._lost.pop(process, None)
        self._told.pop(process, None)

"""Workers that ended: how each did, what it left running, and when its slot is free again."""

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path

from workers.host.pool.leftovers import Burial
from workers.host.pool.run_folder import RunFolder, Slot
from workers.host.pool.spawning import exit_code
from workers.host.pool.timers import CrashBackoff

RELOAD = 75  # exit code of a worker that wants to run on new code
RELOAD_LIVED = 5.0  # seconds: one that asks for a restart sooner waits its turn like any other
MISSING_PROGRAM = 127  # as a shell has it

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Dead:
    """Looks after the dead of one run folder. ``reloads`` counts workers to be started again at once."""

    run_folder: RunFolder
    home: Path
    crashes: CrashBackoff = field(default_factory=CrashBackoff)
    reloads: int = 0
    _burials: dict[int, Burial] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def bury(self) -> None:
        """End what dead workers left running, and free the slots of those of which nothing is left."""
        now = time.monotonic()
        for slot in self.run_folder.slots():
            if slot.alive:
                self._greet(slot)
                self.crashes.living(slot.age(), now=now)
            elif slot.number not in self._burials:
                self._ended(slot)
                self._burials[slot.number] = Burial(self.home, slot.process)
            if slot.number in self._burials and self._burials[slot.number].over:
                del self._burials[slot.number]
                self.run_folder.free(slot.number)

    def crashed(self, number: int, code: int, *, lived: float, line: str) -> None:
        """Note an end that may have been a crash; ``lived`` in seconds, ``line`` what the worker said last."""
        said = line or f"exit code {code}"
        if self.crashes.ended(code, lived=lived, now=time.monotonic(), line=said):
            log.warning("slot=%d event=crash code=%d in_a_row=%d pause_s=%.0f line=%r", number, code,
                        self.crashes.in_a_row, self.crashes.pause, said)  # fmt: skip

    def _greet(self, slot: Slot) -> None:
        if slot.worker_id is not None and slot.worker_id not in self._known:
            self._known.add(slot.worker_id)
            log.info("worker=%s slot=%d event=registered pid=%d", slot.worker_id, slot.number, slot.process.pid)

    def _ended(self, slot: Slot) -> None:
        code = exit_code(slot.process.pid)
        said = slot.worker_id or "unknown"
        log.info("worker=%s slot=%d event=exit code=%s", said, slot.number, "unknown" if code is None else code)
        if code is None:
            return  # adopted: nobody can tell, and one spawn too early does no harm
        lived = slot.age()
        if code == RELOAD and lived >= RELOAD_LIVED and not slot.draining:
            self.reloads += 1
        self.crashed(slot.number, code, lived=lived, line=self.run_folder.last_line(slot.number))

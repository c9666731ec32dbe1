"""What a dead worker left running: its agent is ended at once, by whoever notices first."""

import logging
import threading
from pathlib import Path

from runs.contract.ids import attempt_name
from workers.host.disk.boots import boot_of, read_holding
from workers.host.process.ending import Quarry, end_processes
from workers.host.process.identity import ProcessId

log = logging.getLogger(__name__)


class Burial:
    """Ends what a dead worker left, in a thread: a process that cannot be killed holds up its own slot alone."""

    def __init__(self, home: Path, worker: ProcessId) -> None:
        """Begins at once."""
        self._thread = threading.Thread(target=end_leftovers, args=(home, worker), name="burial", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether nothing of the worker's attempt is alive any more."""
        return not self._thread.is_alive()


def end_leftovers(home: Path, worker: ProcessId) -> None:
    """Nothing of the attempt that this dead worker held is alive afterwards.

    Its boot's record stays: the next worker of the home tells the control plane. If one has adopted it already, that
    one ends the agent.
    """
    folder = boot_of(home, worker)
    holding = read_holding(folder) if folder is not None else None
    if holding is None:
        return
    name = attempt_name(holding.run_id, holding.attempt)
    log.info("event=ending_leftovers worker=%s attempt=%s", holding.worker_id, name)
    end_processes(Quarry(attempt=name, leader=holding.leader, agent=holding.agent, spare_leader=False), grace=0)

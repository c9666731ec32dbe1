"""Processes that outlive SIGKILL, as one in an uninterruptible wait does: what this process has met of them."""

from collections.abc import Iterable

from workers.host.process.identity import ProcessId, is_alive

_met: dict[ProcessId, None] = {}  # each use of it is one step, so threads need no lock


def survivors_note(processes: Iterable[ProcessId]) -> None:
    """Remember processes that were killed long ago and are there still."""
    _met.update(dict.fromkeys(processes))


def survivors() -> list[int]:
    """The pids of those that are alive now, in order; one that has ended is forgotten."""
    for process in list(_met):
        if not is_alive(process):
            _met.pop(process, None)
    return sorted(process.pid for process in list(_met))

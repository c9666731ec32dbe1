"""Which process is which: start tokens, and a look at all processes of the machine.

A pid alone proves nothing: every signal compares the start token first. Only the standard library is needed on Linux.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

from workers.host.process import stat
from workers.host.process.stat import ON_LINUX


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process for certain: pid and start token (``<boot id>:<start ticks>`` on Linux)."""

    pid: int
    start: str


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """What one look says about a process."""

    identity: ProcessId
    parent: int
    group: int
    zombie: bool


def start_token(pid: int) -> str | None:
    """The start token of a process that exists, zombies included; None if there is none."""
    row = _row(pid)
    return row.identity.start if row else None


def identify(pid: int) -> ProcessId | None:
    """The identity of a process that exists."""
    row = _row(pid)
    return row.identity if row else None


def is_alive(process: ProcessId) -> bool:
    """Whether exactly this process runs; a zombie does not."""
    row = _row(process.pid)
    return row is not None and row.identity == process and not row.zombie


def send_signal(process: ProcessId, number: int) -> bool:
    """Signal exactly this process; False if it is gone or its pid is another's by now."""
    try:
        handle = os.pidfd_open(process.pid) if hasattr(os, "pidfd_open") else None
    except OSError:
        return False
    try:
        if start_token(process.pid) != process.start:
            return False
        if handle is not None:
            signal.pidfd_send_signal(handle, number)
        else:
            os.kill(process.pid, number)
    except OSError:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


def look(since: ProcessId | None = None) -> list[ProcessRow]:
    """Every process of the machine that can be seen now and is not older than ``since``."""
    begun = _begun(since) if since else 0.0
    return [row for pid in _pids() if (row := _row(pid, begun)) is not None]


def descendants(rows: list[ProcessRow], root: int) -> list[ProcessId]:
    """All processes below ``root``, itself and zombies left out."""
    children: dict[int, list[ProcessRow]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row)
    found: list[ProcessId] = []
    waiting, seen = [root], {root}
    while waiting:
        for row in children.get(waiting.pop(), ()):
            if row.identity.pid not in seen:
                seen.add(row.identity.pid)
                waiting.append(row.identity.pid)
                if not row.zombie:
                    found.append(row.identity)
    return found


def carries(process: ProcessId, marker: str) -> bool:
    """Whether the process's environment, as it was at its start, contains ``NAME=value`` exactly."""
    if not ON_LINUX:
        return marker in _foreign_environment(process.pid)
    try:
        return b"\0" + marker.encode() + b"\0" in b"\0" + stat.read_whole(f"/proc/{process.pid}/environ") + b"\0"
    except OSError:
        return False


def _pids() -> Iterator[int]:
    if ON_LINUX:
        return (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208 -- names are enough
    import psutil

    return iter(psutil.pids())


def _begun(process: ProcessId) -> float:
    """When a process began, in the unit of its system; 0, which nothing is older than, where this boot cannot tell."""
    boot, _, instant = process.start.rpartition(":")
    with contextlib.suppress(ValueError):
        return float(instant) if boot == (stat.boot_id() if ON_LINUX else "") else 0.0
    return 0.0


def _row(pid: int, begun: float = 0.0) -> ProcessRow | None:
    """The process; None if there is none, or if it began before that."""
    if not ON_LINUX:
        return _foreign_row(pid, begun)
    fields = stat.stat_fields(pid)
    if fields is None or int(fields[stat.START]) < begun:
        return None
    return ProcessRow(
        identity=ProcessId(pid, stat.token_of(fields)),
        parent=int(fields[stat.PARENT]),
        group=int(fields[stat.GROUP]),
        zombie=fields[stat.STATE] in "ZX",
    )


def _foreign_row(pid: int, begun: float) -> ProcessRow | None:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        found = psutil.Process(pid)
        with found.oneshot():
            if found.create_time() < begun:
                return None
            return ProcessRow(
                identity=ProcessId(pid, f"{found.create_time():.6f}"),
                parent=found.ppid(),
                group=os.getpgid(pid),
                zombie=found.status() == psutil.STATUS_ZOMBIE,
            )
    return None


def _foreign_environment(pid: int) -> list[str]:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        return [f"{name}={value}" for name, value in psutil.Process(pid).environ().items()]
    return []

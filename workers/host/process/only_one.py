"""One process of a kind for each folder: a lock for life, and a pid file that proves itself by its start token."""

from __future__ import annotations

import fcntl
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runs.contract.errors import Refused
from runs.contract.instants import format_instant
from workers.host.process.identity import ProcessId, is_alive, start_token

if TYPE_CHECKING:
    from pathlib import Path


def hold_lock(folder: Path, name: str, **more: str) -> int:
    """Take ``<name>.lock`` for the life of this process and write ``<name>.pid``; return the descriptor to keep.

    ``more`` stands in the pid file beside pid, start token, start and name. Raises ``Refused`` naming the pid of the
    one that runs already.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    pid_file = folder / f"{name}.pid"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        found = read_pid_file(pid_file)
        raise Refused(
            "already_running",
            f"{name} already runs on {folder.parent} (pid {found.get('pid', 'unknown')}). Stop it first, or set "
            "FACTORY_HOME.",
        ) from None
    pid_file.touch(mode=0o600)
    pid_file.write_text(pid_line(os.getpid(), name, **more), encoding="utf-8")
    return descriptor


def pid_line(pid: int, command: str, **more: str) -> str:
    """The one line of a pid file: pid, start token, when it was written, what runs."""
    line = {"pid": pid, "start": start_token(pid) or "", "spawnedAt": format_instant(datetime.now(UTC)), **more}
    return json.dumps({**line, "command": command}) + "\n"


def read_pid_file(path: Path) -> dict[str, Any]:
    """What a pid file says; empty when it is absent or no pid file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    sound = isinstance(found, dict) and isinstance(found.get("pid"), int) and isinstance(found.get("start"), str)
    return found if sound else {}


def process_of(found: dict[str, Any]) -> ProcessId:
    """The process that a pid file names; one that never lives for an empty one."""
    return ProcessId(found.get("pid", 0), found.get("start", ""))


def live_process(path: Path) -> ProcessId | None:
    """The process of a pid file if exactly that one runs; None for a stale file."""
    process = process_of(read_pid_file(path))
    return process if is_alive(process) else None

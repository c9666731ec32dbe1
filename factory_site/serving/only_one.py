"""One `serve` for each data folder: a lock for life, and a pid file that proves itself by its start token."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

from runs.contract.errors import Refused
from workers.host.process.identity import start_token

if TYPE_CHECKING:
    from pathlib import Path


def hold_lock(folder: Path, name: str) -> int:
    """Take ``<name>.lock`` for the life of this process and write ``<name>.pid``; return the descriptor to keep.

    Raises ``Refused`` naming the pid of the one that runs already.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    pid_file = folder / f"{name}.pid"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Refused(
            "already_running",
            f"{name} already runs on {folder.parent} (pid {_pid_of(pid_file)}). Stop it first, or set FACTORY_HOME.",
        ) from None
    line = {"pid": os.getpid(), "start": start_token(os.getpid()) or "", "command": name}
    pid_file.touch(mode=0o600)
    pid_file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return descriptor


def _pid_of(pid_file: Path) -> str:
    try:
        return str(json.loads(pid_file.read_text(encoding="utf-8"))["pid"])
    except (OSError, ValueError, KeyError):
        return "unknown"

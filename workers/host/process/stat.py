"""What Linux says about one process. Loads next to nothing, so that a minder starts at once."""

from __future__ import annotations

import os
import sys

ON_LINUX = sys.platform == "linux"
STATE, PARENT, GROUP, START = 0, 1, 2, 19  # positions in what `stat_fields` returns

_boot: list[str] = []


def stat_fields(pid: int) -> list[str] | None:
    """The fields of ``/proc/PID/stat`` behind the name, zombies included; None if there is no such process."""
    try:
        text = _read(f"/proc/{pid}/stat", once=True).decode("utf-8", "replace")
    except OSError:
        return None
    # The name in parentheses may hold blanks and parentheses itself.
    return text[text.rindex(")") + 2 :].split()


def token_of(fields: list[str]) -> str:
    """The start token of the process with these fields: ``<boot id>:<start ticks>``."""
    if not _boot:
        _boot.append(read_whole("/proc/sys/kernel/random/boot_id").decode().strip())
    return f"{_boot[0]}:{fields[START]}"


def start_token(pid: int) -> str:
    """The start token of a process that exists; blank if there is none, and on other systems than Linux."""
    fields = stat_fields(pid) if ON_LINUX else None
    return token_of(fields) if fields else ""


def read_whole(path: str) -> bytes:
    """The content of a file of ``/proc``. Raises ``OSError``."""
    return _read(path)


def _read(path: str, *, once: bool = False) -> bytes:
    """``once`` for what is smaller than a page, which a single read returns whole."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, 65536)
        while not once and (chunk := os.read(descriptor, 65536)):
            content += chunk
        return content
    finally:
        os.close(descriptor)

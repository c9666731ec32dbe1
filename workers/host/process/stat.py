"""What Linux says about one process. Loads next to nothing, so that a minder starts at once."""

from __future__ import annotations

import os
import sys

ON_LINUX = sys.platform == "linux"
STATE, PARENT, GROUP, START = 0, 1, 2, 19  # positions in what `stat_fields` returns

_boot: list[str] = []


def stat_fields(pid: int) -> list[str] | None:
    """The fields of ``/proc/PID/stat`` between the name and the start; None if there is no such process.

    A zombie has them too. What follows the start stays one piece, which nobody reads.
    """
    try:
        text = _read(f"/proc/{pid}/stat", once=True).decode("utf-8", "replace")
    except OSError:
        return None
    # The name in parentheses may hold blanks and parentheses itself.
    return text[text.rindex(")") + 2 :].split(None, START + 1)


def token_of(fields: list[str]) -> str:
    """The start token of the process with these fields: ``<boot id>:<start ticks>``."""
    return f"{boot_id()}:{fields[START]}"


def boot_id() -> str:
    """What names this boot of the machine, from which ticks are counted."""
    if not _boot:
        _boot.append(read_whole("/proc/sys/kernel/random/boot_id").decode().strip())
    return _boot[0]


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

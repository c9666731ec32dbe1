"""Whose turn it is to write to SQLite, whose own wait sleeps ever longer and starves whoever came first.

Threads of one process go in the order of arrival. The one whose turn it is takes a lock on a file beside the database,
on which the kernel lets processes wait; it is freed with the process, however that ends. The lock only orders: what
keeps writes apart is SQLite's own, so a program that knows nothing of the file is safe, and so is a folder without
file locks.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_WAIT = 30.0  # seconds for the threads behind one that waits for a process which was stopped in mid-write
SUFFIX = "-turn"  # of the file, behind the name of the database


class TurnNeverCame(Exception):
    """Another writer holds the database for longer than anybody should wait."""


class FairLock:
    """A lock that is handed over in the order of arrival; a thread that holds it may take it again."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._waiting: deque[tuple[int, threading.Event]] = deque()

    def acquire(self, timeout: float | None = None) -> bool:
        """Return when it is this thread's turn: True, or False when it did not come within ``timeout`` seconds."""
        me = threading.get_ident()
        with self._mutex:
            if self._owner in {None, me}:
                self._owner = me
                self._depth += 1
                return True
            turn = threading.Event()
            self._waiting.append((me, turn))
        if turn.wait(timeout):
            return True
        with self._mutex:
            if turn.is_set():
                return True
            self._waiting.remove((me, turn))
            return False

    def release(self) -> bool:
        """Give up one level; with the last one (True) the longest waiting thread owns the lock."""
        with self._mutex:
            self._depth -= 1
            if self._depth:
                return False
            self._owner = None
            if self._waiting:
                self._owner, turn = self._waiting.popleft()
                self._depth = 1
                turn.set()
            return True

    @property
    def depth(self) -> int:
        """How often the owner holds it."""
        return self._depth


_threads = FairLock()
_files: dict[tuple[int, str], int] = {}  # (process, path): a descriptor that came over a fork shares its parent's lock


@contextmanager
def write_turn(database: str) -> Iterator[None]:
    """Hold the turn to write to this file; a thread that holds it already goes on. Raises ``TurnNeverCame``."""
    if not _threads.acquire(LONGEST_WAIT):
        raise TurnNeverCame(f"no turn to write to {database} in {LONGEST_WAIT:.0f} s")
    outermost = _threads.depth == 1
    file = _file_of(database) if outermost else None
    try:
        if file is not None:
            _lock(file, fcntl.LOCK_EX)
        yield
    finally:
        if file is not None:
            _lock(file, fcntl.LOCK_UN)
        _threads.release()


def _lock(file: int, operation: int) -> None:
    with suppress(OSError):  # a file system without such locks
        fcntl.flock(file, operation)


def _file_of(database: str) -> int | None:
    key = (os.getpid(), database)
    if key not in _files:
        try:
            _files[key] = os.open(database + SUFFIX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
    return _files[key]

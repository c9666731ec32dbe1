"""Write transactions that never show `database is locked` to a caller.

SQLite's own busy wait sleeps and starves, so the threads of one process queue on a fair lock before BEGIN IMMEDIATE;
other processes rely on the busy timeout and a bounded retry. PostgreSQL needs neither.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from django.db import OperationalError, connection, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN_TRIES = 3  # each already waits for the busy timeout; more would only hide a stuck writer


class FairLock:
    """A lock that is handed over in the order of arrival; a thread that holds it may take it again."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._waiting: deque[tuple[int, threading.Event]] = deque()

    def acquire(self) -> None:
        """Return when it is this thread's turn."""
        me = threading.get_ident()
        with self._mutex:
            if self._owner in {None, me}:
                self._owner = me
                self._depth += 1
                return
            turn = threading.Event()
            self._waiting.append((me, turn))
        turn.wait()

    def release(self) -> None:
        """Give up one level; with the last one, the longest waiting thread owns the lock."""
        with self._mutex:
            self._depth -= 1
            if self._depth:
                return
            self._owner = None
            if self._waiting:
                self._owner, turn = self._waiting.popleft()
                self._depth = 1
                turn.set()


_turn = FairLock()


@contextmanager
def without_waiting() -> Iterator[None]:
    """Let a write in here fail at once instead of waiting for another writer of SQLite, and be given up in silence.

    For bookkeeping beside a read: whoever only reads never waits for the write lock. Not for use in a transaction.
    """
    if connection.vendor != "sqlite":
        yield
        return
    milliseconds = int(connection.settings_dict.get("OPTIONS", {}).get("timeout", 5) * 1000)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            with suppress(OperationalError):
                yield
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")


@contextmanager
def write_transaction() -> Iterator[None]:
    """One durable transaction around the body: committed when the block ends, nothing of it if it raises."""
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            _turn.acquire()
            stack.callback(_turn.release)
        _begin(stack)
        yield


@contextmanager
def joined_transaction() -> Iterator[None]:
    """The caller's transaction if there is one (as a savepoint), else a durable one of its own."""
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
    else:
        with write_transaction():
            yield


def turn_taken(name: str) -> None:
    """Wait, inside a transaction of PostgreSQL, until no other one holds the turn of this name; it ends with it.

    SQLite has one writer at a time anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"factory:{name}"])


def _begin(stack: ExitStack) -> None:
    for left in reversed(range(BEGIN_TRIES)):
        try:
            stack.enter_context(transaction.atomic(durable=True))
        except OperationalError as error:
            if not left or "locked" not in str(error):
                raise
            # Begun again on the same connection, SQLite waits holding the interpreter's lock: every thread would wait.
            connection.close()
        else:
            return

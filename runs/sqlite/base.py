"""Django's backend for SQLite, and the connections that nobody uses now.

A new connection reads the whole schema before its first statement, which costs as much as all statements of a claim.
A request that is about to wait puts its connection aside instead of closing it, for whichever thread wants one next.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

MOST_ASIDE = 16  # connections of one process; more than that are closed

FileId = tuple[int, int]


class Aside:
    """Connections that were put aside, the latest first; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[tuple[FileId | None, str, Any]] = []

    def give(self, name: str, connection: Any) -> bool:
        """Keep an open connection to the file; False when there are enough."""
        with self._lock:
            if len(self._kept) >= MOST_ASIDE:
                return False
            self._kept.append((_file_id(name), name, connection))
            return True

    def take(self, name: str) -> Any | None:
        """A connection to what the file is now; one to a file that was replaced meanwhile is closed."""
        now = _file_id(name)
        while True:
            with self._lock:
                at = next((at for at in reversed(range(len(self._kept))) if self._kept[at][1] == name), None)
                if at is None:
                    return None
                then, _, connection = self._kept.pop(at)
            if then is not None and then == now:
                return connection
            connection.close()


ASIDE = Aside()


class DatabaseWrapper(base.DatabaseWrapper):
    """A thread's connection."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """One that was put aside, else a new one."""
        return ASIDE.take(str(conn_params["database"])) or super().get_new_connection(conn_params)

    def set_aside(self) -> None:
        """Give the connection up as ``close`` does, but for whichever thread of this process wants one next.

        One in a transaction, or with an error behind it, is closed.
        """
        usable = self.connection is not None and not self.errors_occurred and not self.is_in_memory_db()
        if not usable or self.in_atomic_block or self.connection.in_transaction:
            self.close()
            return
        self.validate_thread_sharing()
        self.run_on_commit = []
        connection, self.connection = self.connection, None
        if not ASIDE.give(str(self.settings_dict["NAME"]), connection):
            connection.close()


def _file_id(name: str) -> FileId | None:
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

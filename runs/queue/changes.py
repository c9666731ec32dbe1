"""Noticing that something was committed: the source that the watcher of a process looks at."""

from __future__ import annotations

import logging
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from django.db import Error, connection

from runs.queue.notices import CHANNEL

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_log = logging.getLogger(__name__)

LOOK_SECONDS = 0.015  # between two looks at SQLite's data_version, each of which costs microseconds
LISTEN_SECONDS = 0.1  # how long one wait for a notification may keep the watcher from ending
FALLBACK_SECONDS = 2.0  # what a lost wake-up costs at most
RECONNECT_SECONDS = 1.0


def ticks(*, fallback_seconds: float = FALLBACK_SECONDS, source: Iterator[bool] | None = None) -> Generator[bool]:
    """Yield True at the start, after each commit that was noticed and every two seconds; else False, often.

    ``source`` says at each step whether a commit was noticed; the database's own unless given. The consumer stops by
    closing the generator, for which it gets a chance at each tick.
    """
    commits = source or (_sqlite_commits() if connection.vendor == "sqlite" else _postgres_notifications())
    last = 0.0
    for changed in commits:
        instant = time.monotonic()
        due = changed or instant - last >= fallback_seconds
        if due:
            last = instant
        yield due


def _sqlite_commits() -> Iterator[bool]:
    name = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(name, isolation_level=None)) as own:  # never writes, so its version is others' work
        seen = None
        while True:
            version = own.execute("PRAGMA data_version").fetchone()[0]
            yield version != seen
            seen = version
            time.sleep(LOOK_SECONDS)


def _postgres_notifications() -> Iterator[bool]:
    while True:
        own: Any = connection.copy()
        try:
            own.connect()
            own.connection.autocommit = True
            own.connection.execute(f"LISTEN {CHANNEL}")
            yield True  # what happened while nobody listened
            while True:
                heard = list(own.connection.notifies(timeout=LISTEN_SECONDS, stop_after=1))
                yield bool(heard)
        except (Error, own.Database.Error):
            _log.warning("the wake-up channel was lost; connecting again")
            time.sleep(RECONNECT_SECONDS)
            yield False
        finally:
            own.close()

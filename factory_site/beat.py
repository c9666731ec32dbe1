"""Huey as a waker: it starts passes on time and keeps nothing that matters.

Due dates live in `PeriodicTask`; a lost or doubled huey task costs latency, never work.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ParamSpec

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections
from huey import Huey, SqliteHuey, crontab
from huey.serializer import SignedSerializer

from factory_site.coalescing import Coalesced
from runs.clock import now
from runs.models import PeriodicTask
from runs.nudge import register_starter
from runs.periodic import passes, periodic_due, periodic_nudged, periodic_run

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)

P = ParamSpec("P")
REDIS_SECONDS = 2.0  # a request that wakes a pass waits for a Redis that hangs no longer
AWAY_SECONDS = 1.0  # until a chain tries again whose database was away


class _Unsynced(sqlite3.Connection):
    """Commits that wait for no disk: what a power failure loses here is due anyway, and the file stays whole."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.execute("PRAGMA synchronous=NORMAL")


def _queue() -> Huey:
    """The queue of this host in a file; on Redis, the one of all hosts that share the secret key."""
    common = {
        "immediate": False,
        "results": False,
        "serializer": SignedSerializer(secret=settings.SECRET_KEY),
    }
    redis_url = settings.FACTORY.redis_url
    if redis_url is None:
        # A file of its own: inside `atomic()` it would deadlock.
        file = settings.FACTORY.home / "huey.sqlite3"
        return SqliteHuey(name="factory", filename=str(file), factory=_Unsynced, **common)
    from huey import RedisHuey
    from redis import ConnectionPool

    # What another key has signed cannot be read, so another installation on the same Redis has a queue of its own.
    name = f"factory-{hashlib.sha256(settings.SECRET_KEY.encode()).hexdigest()[:12]}"
    pool = ConnectionPool.from_url(
        redis_url.get_secret_value(), socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS
    )
    return RedisHuey(name=name, connection_pool=pool, blocking=False, **common)


huey = _queue()


def on_live_connection(body: Callable[P, None]) -> Callable[P, None]:
    """Give each call a connection that works: a thread of huey's outlives the database server's restarts."""

    @functools.wraps(body)
    def called(*args: P.args, **kwargs: P.kwargs) -> None:
        close_old_connections()
        try:
            body(*args, **kwargs)
        finally:
            close_old_connections()

    return called


@huey.task()
@on_live_connection
def beat(name: str, interrupted: bool = False) -> None:  # noqa: FBT001, FBT002 -- huey passes what it stored
    """Run the pass if this start is won, and schedule the next one; a chain that lost its start ends here.

    ``interrupted``: the try before broke off with the database, so nobody knows whether it had won its start.
    """
    try:
        if periodic_run(name) or interrupted:
            row = PeriodicTask.objects.get(name=name)
            beat.schedule((name,), delay=max(0.1, (row.due_at - now()).total_seconds()))
    except (OperationalError, InterfaceError) as error:
        _log.warning("the database was away from the pass %s: %s", name, error)
        beat.schedule((name, True), delay=AWAY_SECONDS)


@huey.task()
@on_live_connection
def wake(name: str) -> None:
    """Run the pass now, because somebody committed work for it."""
    periodic_nudged(name)


@huey.periodic_task(crontab(minute="*"))
@on_live_connection
def mend_chains() -> None:
    """Start every pass that is overdue, so that a chain that broke with a killed consumer goes on."""
    for name in periodic_due(now() - timedelta(seconds=2)):
        beat(name)


def begin_chains() -> None:
    """Start the chain of every pass; called once by a consumer that begins. Old chains end by losing their starts."""
    for each in passes():
        PeriodicTask.objects.filter(name=each.name).update(due_at=now())
        beat(each.name)


def nudge_through_huey() -> None:
    """Let commits of this process wake passes at once."""
    register_starter(Coalesced(wake))

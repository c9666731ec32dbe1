"""The faults of the storm, each by its name: what it does, and whether it struck."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import psutil
import psycopg

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from tests.chaos.field import Field

WEB, TASKS, MINDER = "factory_site.serving.web", "factory_site.serving.tasks", "workers.host.process.minder"
BALLAST_CHUNK = 1 << 16


def _later(seconds: float, act: Callable[[], object]) -> None:
    """Undo a fault after so many seconds, whatever the storm does meanwhile."""
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()


def _signalled(found: Sequence[psutil.Process], rng: random.Random, number: int) -> bool:
    """Send the signal to one of these processes; False when none was there."""
    if not found:
        return False
    with contextlib.suppress(psutil.NoSuchProcess):
        rng.choice(found).send_signal(number)
        return True
    return False


def _paused(found: Sequence[psutil.Process], rng: random.Random, seconds: float) -> bool:
    if not found:
        return False
    one = rng.choice(found)
    with contextlib.suppress(psutil.NoSuchProcess):
        one.suspend()

        def wake() -> None:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.resume()

        _later(seconds, wake)
        return True
    return False


def kill_worker(field: Field, rng: random.Random) -> bool:
    return _signalled(field.workers(), rng, signal.SIGKILL)


def pause_worker(field: Field, rng: random.Random) -> bool:
    """Longer than the liveness half of the time, so that some wake up with a lease that is gone."""
    return _paused(field.workers(), rng, rng.uniform(2, 12))


def kill_agent(field: Field, rng: random.Random) -> bool:
    return _signalled(field.agents(), rng, signal.SIGKILL)


def kill_minder(field: Field, rng: random.Random) -> bool:
    return _signalled([minder for one in field.agents() if (minder := _minder(one))], rng, signal.SIGKILL)


def _minder(agent: psutil.Process) -> psutil.Process | None:
    with contextlib.suppress(psutil.NoSuchProcess):
        parent: psutil.Process | None = agent.parent()
        if parent and any(MINDER in word for word in parent.cmdline()):
            return parent
    return None


def kill_serve(field: Field, rng: random.Random) -> bool:
    """The parent, or everything at once."""
    if field.serving is None or field.serving.popen.poll() is not None:
        return False
    if rng.choice([True, False]):
        field.serving.kill_tree()
    else:
        field.serving.popen.kill()
        field.serving.popen.wait(10)
    return True


def kill_web(field: Field, rng: random.Random) -> bool:
    return _signalled(field.children_of_serve(WEB), rng, signal.SIGKILL)


def pause_web(field: Field, rng: random.Random) -> bool:
    return _paused(field.children_of_serve(WEB), rng, rng.uniform(1, 4))


def kill_tasks(field: Field, rng: random.Random) -> bool:
    return _signalled(field.children_of_serve(TASKS), rng, signal.SIGKILL)


def kill_supervisor(field: Field, rng: random.Random) -> bool:
    del rng
    if field.supervisor is None or field.supervisor.popen.poll() is not None:
        return False
    field.supervisor.popen.kill()
    field.supervisor.popen.wait(10)
    return True


def skew_clock(field: Field, rng: random.Random) -> bool:
    """Two loose workers change their clocks: an hour early becomes an hour late."""
    del rng
    early, late = field.clocks[0], field.clocks[1]
    field.clocks[0], field.clocks[1] = late, early
    for number in (0, 1):
        for one in field.loose[number].tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGTERM)
    return True


def disturb_database(field: Field, rng: random.Random) -> bool:
    """SQLite: another program holds the write lock for a while. PostgreSQL: every connection is ended."""
    address = field.system.settings.get("DATABASE_URL", "")
    if address:
        with psycopg.connect(address, autocommit=True) as session:
            ended = session.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchone()
        return bool(ended and ended[0])
    with contextlib.closing(sqlite3.connect(field.system.home / "factory.sqlite3", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 5000")
        with contextlib.suppress(sqlite3.OperationalError):
            other.execute("BEGIN IMMEDIATE")
            time.sleep(rng.uniform(0.5, 4))
            other.execute("ROLLBACK")
            return True
    return False


def fill_disk(field: Field, rng: random.Random) -> bool:
    """The disk of one worker's home has no room for its spool."""
    ballast = field.disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(os.urandom(BALLAST_CHUNK)):
            pass
    _later(rng.uniform(3, 8), lambda: ballast.unlink(missing_ok=True))
    return True


def drop_requests(field: Field, rng: random.Random) -> bool:
    return _weather(field, rng, "refusing", on=True, off=False)


def delay_requests(field: Field, rng: random.Random) -> bool:
    return _weather(field, rng, "delay", on=rng.uniform(0.2, 2), off=0.0)


def cut_answers(field: Field, rng: random.Random) -> bool:
    return _weather(field, rng, "cutting", on=True, off=False)


def _weather(field: Field, rng: random.Random, name: str, *, on: float | bool, off: float | bool) -> bool:
    before = field.proxy.struck
    setattr(field.proxy, name, on)
    time.sleep(rng.uniform(1, 4))
    setattr(field.proxy, name, off)
    return field.proxy.struck > before


FAULTS: dict[str, Callable[[Field, random.Random], bool]] = {
    each.__name__: each
    for each in (
        kill_worker,
        pause_worker,
        kill_agent,
        kill_minder,
        kill_serve,
        kill_web,
        pause_web,
        kill_tasks,
        kill_supervisor,
        skew_clock,
        disturb_database,
        fill_disk,
        drop_requests,
        delay_requests,
        cut_answers,
    )
}

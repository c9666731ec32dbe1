"""Whole runs by four workers: how many a second, at what depth, how evenly, and what an agent's process costs."""

import os
import sqlite3
import statistics
import subprocess
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import psutil

from tests.benchmarks import mass, place
from tests.benchmarks.system import (
    NEWEST_RESULT,
    Served,
    cpu_seconds,
    finished_attempts,
    query,
    served,
    until,
    working,
)
from tests.benchmarks.table import Row, Size, percentile
from workers.host.process.launcher import ALL_ENDED, MINDER
from workers.host.process.messages import read_message, send_message

TITLE = "Whole runs, four workers"
WORKERS = 4
FAKE = ("--adapter-override", "fake")
WARM = 100  # runs before the clock starts
TIMED = 600
BY_COMMAND = 60
ALONE = 20  # starts of a minder with its agent
FAIR_SECONDS = 30.0


def measure(size: Size) -> list[Row]:
    """Two control planes, one with a short queue and one with a long one, which take turns."""
    home = place.home()
    place.migrate()
    mass.queued(size.many + 20 * size.few)
    with served(home) as system:
        rates: dict[int, list[float]] = {size.few: [], size.many: []}
        for _ in range(size.repetitions):
            for depth, found in rates.items():
                _lengthen(depth)
                found.append(_rate(system, TIMED if not size.quick else TIMED // 2, *FAKE))
        rows = _rows_of_rates(rates, size)
        _lengthen(size.many)
        rows += _fairness(system, FAIR_SECONDS if not size.quick else FAIR_SECONDS / 3)
        rows += _by_command(system, size)
        return rows


def _lengthen(depth: int) -> None:
    """Let exactly so many runs be ready; the others wait with a hold that nobody clears meanwhile."""
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_run SET hold = 'run_budget', hold_checked_at = '2200-01-01'"
            " WHERE state = 'queued' AND hold = ''"
        )
        cursor.execute(
            "UPDATE runs_run SET hold = '', hold_checked_at = NULL WHERE id IN (SELECT id FROM runs_run"
            " WHERE state = 'queued' AND hold = 'run_budget' ORDER BY id LIMIT %s)",
            [depth],
        )
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what this has written is not the runs' to bring home


def _rate(system: Served, runs: int, *flags: str) -> float:
    """Runs a second from the hundredth after the workers' start."""
    with working(system, WORKERS, *flags):
        first = finished_attempts(system.home) + WARM
        begun = _instant(system.home, first)
        return runs / (_instant(system.home, first + runs) - begun)


def _instant(home: Path, finished: int) -> float:
    """When so many results were there; looked for over one connection, so that looking costs next to nothing."""
    with closing(sqlite3.connect(home / "factory.sqlite3", timeout=30)) as own:
        until(f"run {finished}", lambda: own.execute(NEWEST_RESULT).fetchone()[0] >= finished, every=0.02)
        return time.monotonic()


def _rows_of_rates(rates: dict[int, list[float]], size: Size) -> list[Row]:
    few, many = statistics.median(rates[size.few]), statistics.median(rates[size.many])
    apart = abs(1 - statistics.median(b / a for a, b in zip(rates[size.few], rates[size.many], strict=True)))
    return [
        Row(f"whole runs, fake adapter, {size.few:,} queued", few, "runs/s", 100, at_least=True),
        Row(f"whole runs, fake adapter, {size.many:,} queued", many, "runs/s", 100, at_least=True),
        Row("the same at both depths, apart by", apart * 100, "%", 10),
    ]


def _fairness(system: Served, seconds: float) -> list[Row]:
    locked = system.said("database is locked")
    with working(system, WORKERS, *FAKE) as workers:
        first = finished_attempts(system.home) + WARM
        _instant(system.home, first)
        waits = _write_waits(seconds)
        served_by = Counter(
            row[0]
            for row in query(
                system.home,
                "SELECT a.worker_id FROM runs_result r JOIN runs_attempt a ON a.id = r.attempt_id WHERE r.id > ?",
                first,
            )
        )
        del workers
    least = min(served_by.values()) / max(served_by.values()) if len(served_by) == WORKERS else 0.0
    note = f"p50 {statistics.median(waits) * 1000:.1f}, p99 {percentile(waits, 0.99) * 1000:.1f} ms"
    return [
        Row("fairness: runs of the least served worker / of the most", least, "×", 0.5, at_least=True),
        Row("longest wait of another process for the write lock", max(waits), "s", 0.5, note=note),
        Row("`database is locked` in the log", system.said("database is locked") - locked, "", 0),
    ]


def _write_waits(seconds: float) -> list[float]:
    """How long this process waits for a write transaction, asked twenty times a second."""
    from runs.transactions import write_transaction

    waits = []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        begun = time.perf_counter()
        with write_transaction():
            waits.append(time.perf_counter() - begun)
        threading.Event().wait(0.05)
    return waits


def _by_command(system: Served, size: Size) -> list[Row]:
    costs, rates, floors = [], [], []
    for _ in range(size.repetitions):
        floors.append(_alone())
        with working(system, WORKERS, "--command", "true") as workers:
            first = finished_attempts(system.home) + WORKERS * 2
            begun = _instant(system.home, first)
            watched = [*system.children().values(), *(psutil.Process(worker.pid) for worker in workers)]
            used = cpu_seconds(watched)
            _instant(system.home, first + BY_COMMAND)
            done = finished_attempts(system.home) - first
            costs.append((cpu_seconds(watched) - used) / done)
            rates.append(done / (time.monotonic() - begun))
    note = f"{statistics.median(costs) * 1000:.0f} and {statistics.median(floors) * 1000:.0f} ms of CPU"
    share = statistics.median(cost / floor for cost, floor in zip(costs, floors, strict=True))
    return [
        Row("CPU of a run of `true`, server included / minder and agent alone", share, "×", 2.5, note=note),
        Row("whole runs, command adapter, `true`", statistics.median(rates), "runs/s", 12, at_least=True),
    ]


def _alone() -> float:
    """CPU seconds of one minder with its agent, as a worker starts them and without anything around it."""
    before = os.times()
    for _ in range(ALONE):
        control, control_write = os.pipe()
        status_read, status = os.pipe()
        argv = [*MINDER, str(control), str(status)]
        minder = subprocess.Popen(argv, pass_fds=(control, status), stdin=subprocess.DEVNULL, start_new_session=True)
        os.close(control)
        os.close(status)
        job = {"argv": ["true"], "env": {"PATH": os.defpath}, "cwd": "/", "attempt": "bench-a1", "nice": 5}
        send_message(control_write, job)
        read_message(status_read)
        read_message(status_read)
        os.write(control_write, ALL_ENDED)
        os.close(control_write)
        os.close(status_read)
        minder.wait()
    after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system) / ALONE

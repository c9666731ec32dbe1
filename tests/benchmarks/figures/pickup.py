"""What an idle worker costs, and how soon it has a run that comes."""

import re
import statistics
import threading
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psutil

from tests.benchmarks import mass, place
from tests.benchmarks.system import cpu_seconds, resident, served, until, working
from tests.benchmarks.table import Row, Size, percentile

TITLE = "An idle worker"
PICKUPS = 100
BETWEEN = 0.35  # seconds, longer than a run takes
SETTLED = 3.0  # seconds after the start until a worker counts as idle
CLAIMED = re.compile(r"^(\S+)Z .*event=claimed", re.MULTILINE)


def measure(size: Size) -> list[Row]:
    """One worker with nothing to do, then runs one by one, then nothing to do behind runs that it cannot take."""
    home = place.home()
    place.migrate()
    agent = home / "agent.sh"
    agent.write_text(f"#!/bin/sh\ndate +%s.%N >> {home}/started\n")
    agent.chmod(0o755)
    with served(home) as system:
        with working(system, 1, "--command", str(agent)) as (worker,):
            rows = _idle(psutil.Process(worker.pid), size, "an idle worker")
            rows += _pickup(home, worker.log, PICKUPS // (4 if size.quick else 1))
        mass.unplaceable(10_000)
        with working(system, 1, "--command", str(agent)) as (worker,):
            rows += _idle(psutil.Process(worker.pid), size, "an idle worker behind 10,000 unplaceable")
    return rows


def _idle(worker: psutil.Process, size: Size, name: str) -> list[Row]:
    seconds = 10.0 if size.quick else 60.0
    threading.Event().wait(SETTLED)
    before, begun = cpu_seconds([worker]), time.monotonic()
    threading.Event().wait(seconds)
    share = (cpu_seconds([worker]) - before) / (time.monotonic() - begun)
    return [
        Row(f"{name}: memory", resident(worker), "MiB", 32),
        Row(f"{name}: CPU", share * 100, "% of a core", 0.3),
    ]


def _pickup(home: Path, log: Path, count: int) -> list[Row]:
    started = home / "started"
    known = len(CLAIMED.findall(log.read_text()))
    committed = []
    for number in range(count):
        place.enqueue(1_000_000 + number)
        committed.append(time.time())
        until("start of the agent", partial(_has_lines, started, number + 1), every=0.02)
        threading.Event().wait(BETWEEN)
    claims = [datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() for at in CLAIMED.findall(log.read_text())][
        known:
    ]
    starts = [float(line) for line in started.read_text().split()]
    rows = []
    for name, instants, middle, worst in (
        ("enqueue to claim answered", claims, 40, 150),
        ("enqueue to agent started", starts, 90, 300),
    ):
        waits = [(at - begun) * 1000 for at, begun in zip(instants, committed, strict=True)]
        rows.append(Row(f"{name}, p50", statistics.median(waits), "ms", middle))
        rows.append(Row(f"{name}, p99", percentile(waits, 0.99), "ms", worst))
    return rows


def _has_lines(file: Path, count: int) -> bool:
    return file.exists() and file.read_text().count("\n") >= count

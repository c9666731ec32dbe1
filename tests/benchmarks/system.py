"""A real `serve` on a figure's folder, real workers beside it, and what they cost."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.process.system import Process, free_port

PATIENCE = 180.0  # seconds for a start on a large table
MIB = 1024**2
NEWEST_RESULT = "SELECT coalesce(max(id), 0) FROM runs_result"


class Served:
    """The control plane of a data folder that Django of this process writes to as well."""

    def __init__(self, home: Path, port: int = 0) -> None:
        self.home = home
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        argv = [sys.executable, "-u", "manage.py", "serve", "--port", str(self.port)]
        self.process = Process(argv, self._environment(), home / "serve.log")
        until("an answer of /health", self._answers)

    @property
    def credential(self) -> Path:
        return self.home / "secrets" / "worker-local.json"

    @property
    def token(self) -> str:
        return str(json.loads(self.credential.read_text())["token"])

    def work(self, number: int, *flags: str) -> Process:
        """One worker with a home of its own."""
        argv = [sys.executable, "-u", "-m", "workers.host", "--url", self.url]
        argv += ["--credential-file", str(self.credential), "--worker-home", str(self.home / f"worker-{number}")]
        return Process([*argv, *flags], self._environment(), self.home / f"worker-{number}.log")

    def children(self) -> dict[str, psutil.Process]:
        """The processes of the control plane by what they do."""
        found = {"serve": psutil.Process(self.process.pid)}
        for child in found["serve"].children(recursive=True):
            line = " ".join(child.cmdline())
            for name in ("web", "tasks"):
                if f"serving.{name}" in line:
                    found[name] = child  # of gunicorn's two the younger one, which serves
        return found

    def said(self, pattern: str) -> int:
        """How often the log of the control plane has this."""
        return len(re.findall(pattern, self.process.text()))

    def stop(self) -> None:
        self.process.end()

    def _environment(self) -> dict[str, str]:
        own = ("FACTORY_", "GITHUB_")  # as the figure has set them
        kept = {"PATH", "HOME", "DATABASE_URL"}
        return {name: value for name, value in os.environ.items() if name in kept or name.startswith(own)}

    def _answers(self) -> bool:
        assert self.process.popen.poll() is None, self.process.text()
        with suppress(requests.RequestException):
            return requests.get(f"{self.url}/health", timeout=5).ok
        return False


@contextmanager
def served(home: Path, port: int = 0) -> Iterator[Served]:
    """A control plane that ends with the block."""
    system = Served(home, port)
    try:
        yield system
    finally:
        system.stop()


@contextmanager
def working(system: Served, count: int, *flags: str) -> Iterator[list[Process]]:
    """Workers that end with the block."""
    processes = [system.work(number, *flags) for number in range(1, count + 1)]
    try:
        yield processes
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                process.popen.send_signal(signal.SIGTERM)
        for process in processes:
            process.end()


def until(what: str, fact: Callable[[], Any], *, seconds: float = PATIENCE, every: float = 0.05) -> Any:
    """The first true answer; a benchmark without it is none."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        found = fact()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"in {seconds:.0f} s there was no {what}")


def query(home: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Read the database of a data folder beside everybody else."""
    own = sqlite3.connect(home / "factory.sqlite3", timeout=30)
    try:
        return own.execute(statement, values).fetchall()
    finally:
        own.close()


def finished_attempts(home: Path) -> int:
    """The key of the newest accepted result: a count that costs one seek."""
    return int(query(home, NEWEST_RESULT)[0][0])


def cpu_seconds(processes: list[psutil.Process]) -> float:
    """What these processes and the children that they have buried used so far."""
    total = 0.0
    for process in processes:
        used = process.cpu_times()
        total += used.user + used.system + used.children_user + used.children_system
    return total


def resident(process: psutil.Process) -> float:
    """MiB in memory."""
    return float(process.memory_info().rss) / MIB


def alone(argv: list[str]) -> float:
    """CPU seconds of one command and everything below it, from its start to its end."""
    before = os.times()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system

"""Claim and result over real HTTP with every rule, beside the same two requests to a bare app without any."""

import os
import statistics
import sys
from pathlib import Path

import requests

from tests.benchmarks import mass, place
from tests.benchmarks.clients import pairs_a_second
from tests.benchmarks.floor import SqliteFloor
from tests.benchmarks.system import served, until
from tests.benchmarks.table import Row, Size, ratio
from tests.process.system import Process, free_port

TITLE = "Claim and result over HTTP"
CLIENTS = (1, 2, 4)


def measure(size: Size) -> list[Row]:
    """Pairs a second of both, in turns."""
    home = place.home()
    place.migrate()
    rows = size.repetitions * sum(CLIENTS) * (size.pairs + 1) + size.few
    mass.queued(rows)
    SqliteFloor(home / "floor.sqlite3", rows)
    product: dict[int, list[float]] = {count: [] for count in CLIENTS}
    bare: dict[int, list[float]] = {count: [] for count in CLIENTS}
    with served(home) as system:
        floor = _bare(home)
        try:
            for _ in range(size.repetitions):
                for count in CLIENTS:
                    bare[count].append(_pairs_a_second(floor.url, system.token, count, size.pairs))
                    product[count].append(_pairs_a_second(system.url, system.token, count, size.pairs))
        finally:
            floor.process.end()
    return [
        ratio(
            f"claim + result over HTTP, {count} load client{'s' * (count > 1)} / bare app",
            product[count],
            bare[count],
            0.3,
            at_least=True,
            note=f"{statistics.median(product[count]):.0f} and {statistics.median(bare[count]):.0f} pairs/s",
        )
        for count in CLIENTS
    ]


class _Bare:
    def __init__(self, home: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        argv = [sys.executable, "-m", "tests.benchmarks.bare", str(home / "floor.sqlite3"), str(port)]
        self.process = Process(argv, dict(os.environ), home / "bare.log")

    def answers(self) -> bool:
        try:
            return requests.get(self.url, timeout=5).status_code == 404
        except requests.RequestException:
            return False


def _bare(home: Path) -> _Bare:
    found = _Bare(home)
    until("an answer of the bare app", found.answers)
    return found


def _pairs_a_second(url: str, token: str, clients: int, pairs: int) -> float:
    argvs = [("tests.benchmarks.load", url, token, "local", str(number)) for number in range(1, clients + 1)]
    return pairs_a_second(argvs, pairs)

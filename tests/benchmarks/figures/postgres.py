"""Claim and result on PostgreSQL: what four connections get through, beside one, and beside the raw database."""

import os
import statistics
import time
from pathlib import Path

from tests import postgres, rings
from tests.benchmarks import mass, place
from tests.benchmarks.clients import pairs_a_second
from tests.benchmarks.floor import PostgresFloor
from tests.benchmarks.services import WARM
from tests.benchmarks.table import Row, Size, ratio
from tests.databases import made_on

TITLE = "PostgreSQL"
LIVED = 100  # pairs before the tables are analysed, which a server does by itself after a minute of work


def measure(size: Size) -> list[Row]:
    """A throw-away server that syncs each commit; clients are processes, as web hosts are."""
    binaries = rings.postgres_binaries()
    assert binaries is not None, "no PostgreSQL is installed here"
    with postgres.throwaway_cluster(Path(binaries), settings={"fsync": "on"}) as cluster:
        place.home(DATABASE_URL=made_on(cluster.url))
        place.migrate()
        rows = size.repetitions * 5 * (WARM + size.pairs) + WARM + LIVED + size.few
        place.enqueue(1)
        mass.queued(rows)
        _service(1, LIVED)
        mass.analyse()
        one, four, raw = [], [], []
        floor = PostgresFloor(made_on(cluster.url), rows)
        for _ in range(size.repetitions):
            raw.append(_raw(floor, size.pairs))
            one.append(_service(1, size.pairs))
            four.append(_service(4, size.pairs))
        floor.close()
        _disconnect()
    each = [f"{statistics.median(found):.0f}" for found in (four, one, raw)]
    return [
        ratio("claim + result, 4 connections / 1", four, one, 1.4, at_least=True,
              note=f"{each[0]} and {each[1]} pairs/s"),
        ratio("claim + result, 1 connection / raw pair", one, raw, 0.15, at_least=True,
              note=f"{each[1]} and {each[2]} pairs/s"),
    ]  # fmt: skip


def _service(clients: int, pairs: int) -> float:
    return pairs_a_second([("tests.benchmarks.services", str(number)) for number in range(1, clients + 1)], pairs)


def _raw(floor: PostgresFloor, pairs: int) -> float:
    begun = time.monotonic()
    for _ in range(pairs):
        floor.result(floor.claim())
    return pairs / (time.monotonic() - begun)


def _disconnect() -> None:
    from django.db import connections

    connections.close_all()
    os.environ.pop("DATABASE_URL", None)

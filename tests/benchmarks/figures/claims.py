"""The claim as a service call: beside the raw database, deep in the queue, behind runs that nobody here can take."""

import shutil
import statistics
from pathlib import Path

from tests.benchmarks import mass, place
from tests.benchmarks.floor import SqliteFloor
from tests.benchmarks.services import claim
from tests.benchmarks.table import Row, Size, ratio

TITLE = "Claim, service call in process"
CLAIMS = 40  # a repetition
WARM_UP = 5


def measure(size: Size) -> list[Row]:
    """Medians of each repetition; the cases take turns, so that a slow moment meets all of them."""
    home = place.home()
    place.migrate()
    place.enqueue(1)
    cases = _cases(home, size)
    floor = SqliteFloor(home / "floor.sqlite3", size.many)
    found: dict[str, list[float]] = {name: [] for name in (*cases, "raw")}
    for _ in range(size.repetitions):
        for name, path in cases.items():
            with place.database(path):
                for _ in range(WARM_UP):
                    claim()
                raws, claims = [], []
                for _ in range(CLAIMS):
                    if name == "many":
                        raws.append(place.timed(floor.claim))
                    claims.append(place.timed(claim))
                found[name].append(statistics.median(claims))
                if raws:
                    found["raw"].append(statistics.median(raws))
    return _rows(found, size)


def _cases(home: Path, size: Size) -> dict[str, Path]:
    """A database file for each case."""
    base = home / "factory.sqlite3"
    cases = {name: home / f"{name}.sqlite3" for name in ("few", "many", "behind", "far behind")}
    for name in ("few", "many", "behind"):
        copied(base, cases[name])
        with place.database(cases[name]):
            mass.queued(size.many if name == "many" else size.few)
            if name == "behind":
                mass.finished(size.finished)
                mass.unplaceable(size.many // 10)
    copied(cases["behind"], cases["far behind"])
    with place.database(cases["far behind"]):
        mass.unplaceable(size.many - size.many // 10, begin=size.many // 10)
    return cases


def copied(source: Path, target: Path) -> None:
    from django.db import connection

    with place.database(source), connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copyfile(source, target)


def _rows(found: dict[str, list[float]], size: Size) -> list[Row]:
    def each(name: str) -> str:
        return f"{statistics.median(found[name]) * 1000:.2f} ms"

    return [
        ratio(
            f"claim with {size.many:,} queued / with {size.few:,}",
            found["many"],
            found["few"],
            1.3,
            note=f"{each('many')} and {each('few')}",
        ),
        ratio(
            f"claim / raw claim of the database alone, {size.many:,} queued",
            found["many"],
            found["raw"],
            12,
            note=f"{each('many')} and {each('raw')}",
        ),
        ratio(
            f"claim behind {size.many // 10:,} unplaceable, {size.finished:,} finished / without",
            found["behind"],
            found["few"],
            1.3,
            note=f"{each('behind')} and {each('few')}",
        ),
        ratio(
            f"claim behind {size.many:,} unplaceable, {size.finished:,} finished / without",
            found["far behind"],
            found["few"],
            1.5,
            note=f"{each('far behind')} and {each('few')}",
        ),
    ]

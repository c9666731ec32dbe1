"""The claim as a service call: beside the raw database, deep in the queue, behind runs that nobody here can take."""

import shutil
import statistics
from pathlib import Path

from tests.benchmarks import mass, place
from tests.benchmarks.floor import SqliteFloor
from tests.benchmarks.services import claim
from tests.benchmarks.table import Row, Size, ratio

TITLE = "Claim, service call in process"
CLAIMS = 8  # of a case in one turn
TURNS = 5  # of a repetition: short ones, for what slows the machine or its disk comes and goes within seconds
WARM_UP = 3


def measure(size: Size) -> list[Row]:
    """Medians of each repetition; the cases take turns, so that a slow moment meets all of them."""
    home = place.home()
    place.migrate()
    place.enqueue(1)
    cases = _cases(home, size)
    floor = SqliteFloor(home / "floor.sqlite3", size.many)
    found: dict[str, list[float]] = {name: [] for name in (*cases, "raw")}
    for _ in range(size.repetitions):
        took: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(TURNS):
            for name, path in cases.items():
                with place.database(path):
                    _turn(took, name, floor)
        for name, values in took.items():
            found[name].append(statistics.median(values))
    return _rows(found, size)


def _turn(took: dict[str, list[float]], name: str, floor: SqliteFloor) -> None:
    """Some claims of a case; beside the long queue each has a raw one before it."""
    for _ in range(WARM_UP):
        claim()
    for _ in range(CLAIMS):
        if name == "many":
            took["raw"].append(place.timed(floor.claim))
        took[name].append(place.timed(claim))


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

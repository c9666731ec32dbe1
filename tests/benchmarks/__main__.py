"""`python -m tests.benchmarks`: the queue's services on SQLite with synchronous FULL, beside the raw database.

Five interleaved repetitions; medians are printed, and ratios to the floor of the same repetition.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

FEW, MANY = 1_000, 20_000  # queued runs
REPETITIONS = 5
CLAIMS = 40  # a repetition
WIDTH = 44


def prepare() -> None:
    """Set up Django on a throw-away database."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from tests import queue_driver

    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous=FULL")
    queue_driver.load_definitions()


def fill(count: int) -> None:
    """Have exactly ``count`` queued runs, all placeable, each of a branch of its own."""
    from runs.models import Run, RunSpec
    from tests import queue_driver

    Run.objects.all().delete()
    template = queue_driver.enqueue()
    spec = RunSpec.objects.get(run=template)
    runs: list[Run] = []
    total = Run.objects.count()
    for number in range(total, count):
        copy = Run(**vars_of(template))
        copy.pk, copy.run_id = None, f"run_{number:026d}"
        copy.idempotency_key, copy.exclusive_key = f"bench:{number}", f"branch:1:{number}"
        runs.append(copy)
    Run.objects.bulk_create(runs, batch_size=500)
    keys = Run.objects.exclude(pk=template.pk).values_list("pk", flat=True)
    RunSpec.objects.bulk_create([RunSpec(run_id=key, canonical=spec.canonical) for key in keys], batch_size=500)


def vars_of(row: object) -> dict[str, object]:
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


def timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def claim_pair() -> None:
    """Claim, start and publish one run through the services, with every rule."""
    from tests import queue_driver

    attempt = queue_driver.claim()
    queue_driver.beat(attempt, "running", 1)
    queue_driver.publish(attempt, queue_driver.completed_body(attempt))


def measured(count: int, folder: Path) -> dict[str, float]:
    """Medians in milliseconds of one repetition at this depth."""
    from tests import queue_driver
    from tests.benchmarks.floor import Floor

    fill(count)
    floor = Floor(folder / f"floor-{time.monotonic_ns()}.sqlite3", count)
    raw, service = [], []
    for _ in range(CLAIMS):
        raw.append(floor.claim())
        service.append(timed(queue_driver.claim))
    raw_pairs, pairs = [], []
    for _ in range(CLAIMS):
        raw_pairs.append(floor.pair())
        pairs.append(timed(claim_pair))
    figures = {"raw claim": raw, "claim": service, "raw pair": raw_pairs, "claim, start and result": pairs}
    return {name: statistics.median(values) * 1000 for name, values in figures.items()}


def line(name: str, value: str) -> None:
    sys.stdout.write(f"{name:<{WIDTH}} {value}\n")


def main() -> None:
    """Measure and print."""
    prepare()
    from django.conf import settings

    few, many = [], []
    for _ in range(REPETITIONS):
        few.append(measured(FEW, settings.FACTORY.home))
        many.append(measured(MANY, settings.FACTORY.home))

    def median(rows: list[dict[str, float]], name: str) -> float:
        return statistics.median(row[name] for row in rows)

    def ratio(rows: list[dict[str, float]], name: str, floor: str) -> float:
        return statistics.median(row[name] / row[floor] for row in rows)

    for name in ("raw claim", "claim", "raw pair", "claim, start and result"):
        line(f"{name}, {FEW} queued", f"{median(few, name):7.2f} ms")
        line(f"{name}, {MANY} queued", f"{median(many, name):7.2f} ms")
    line(f"claim / raw claim, {MANY} queued", f"{ratio(many, 'claim', 'raw claim'):7.1f} x")
    line(
        f"claim, start and result / raw pair, {MANY} queued",
        f"{ratio(many, 'claim, start and result', 'raw pair'):7.1f} x",
    )
    depth = [deep["claim"] / shallow["claim"] for deep, shallow in zip(many, few, strict=True)]
    line(f"claim at {MANY} / at {FEW} queued", f"{statistics.median(depth):7.2f} x")


if __name__ == "__main__":
    main()

"""Run list, status and metrics with a million runs, beside a thousand; every statement looked at."""

import re
import statistics
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from tests.benchmarks import mass, place
from tests.benchmarks.table import Row, Size, ratio

TITLE = "Lists, status and metrics"
CALLS = 15
WARM_UP = 3
PAGE = 50  # rows of a list: a subject of the short table fills one as well
PATHS = {
    "run list": "/api/v1/runs",
    "run list of a state": "/api/v1/runs?state=completed",
    "run list of an agent": "/api/v1/runs?agent=bench",
    "run list of a subject": "/api/v1/runs?subject=bench:7",
    "status": "/api/v1/status",
    "metrics": "/metrics",
}
COUNT = re.compile(r"\bcount\(", re.IGNORECASE)
BOUNDED = re.compile(r"\bLIMIT\b", re.IGNORECASE)
OFFSET = re.compile(r"\bOFFSET\b", re.IGNORECASE)
RUNS = re.compile(r"\bruns_(run|usage|journalrow|result)\b(?! AS u)")  # unfinished attempts are as few as workers


def measure(size: Size) -> list[Row]:
    """Answers of the views themselves, without a socket."""
    home = place.home()
    place.migrate()
    place.enqueue(1)
    cases = _cases(home, size)
    took: dict[str, dict[str, list[float]]] = {name: {case: [] for case in cases} for name in PATHS}
    said: dict[str, list[str]] = {}
    clients = {}
    for case, path in cases.items():
        with place.database(path):
            clients[case] = _client()
    for _, (name, address), (case, path) in product(range(size.repetitions), PATHS.items(), cases.items()):
        with place.database(path):
            client = clients[case]
            for _ in range(WARM_UP):
                client.get(address)
            took[name][case].append(statistics.median(place.timed(partial(client.get, address)) for _ in range(CALLS)))
            said[name] = _statements(client, address)
    rows = [
        ratio(
            f"{name}, {size.finished:,} runs / {size.few:,}",
            found["many"],
            found["few"],
            1.5,
            note=f"{statistics.median(found['many']) * 1000:.1f} ms",
        )
        for name, found in took.items()
    ]
    everything = [statement for statements in said.values() for statement in statements]
    unbounded = [text for text in everything if COUNT.search(text) and RUNS.search(text) and not BOUNDED.search(text)]
    return [
        *rows,
        Row("statements of a run list of a state, with the caller's own", len(said["run list of a state"]), "", 4),
        Row("counts of runs without a bound", len(unbounded), "", 0, note=unbounded[0][:80] if unbounded else ""),
        Row("statements with OFFSET", sum(bool(OFFSET.search(text)) for text in everything), "", 0),
    ]


def _cases(home: Path, size: Size) -> dict[str, Path]:
    from tests.benchmarks.figures.claims import copied

    cases = {"few": home / "few.sqlite3", "many": home / "many.sqlite3"}
    for name, path in cases.items():
        copied(home / "factory.sqlite3", path)
        with place.database(path):
            if name == "few":
                mass.finished(size.few, subjects=size.few // PAGE)
            else:
                mass.finished(size.finished)
            mass.queued(size.few // 2)
            mass.analyse()
    return cases


def _client() -> Any:
    from django.conf import settings
    from django.test import Client

    from runs.models import Role, User
    from runs.people import token_issue

    settings.ALLOWED_HOSTS = ["testserver"]
    user, _ = User.objects.get_or_create(username="bench", defaults={"role": Role.ADMIN})
    _, secret = token_issue(name=f"bench-{id(object())}", user=user, role=Role.ADMIN, created_by="operator:bench@cli")
    return Client(headers={"Authorization": f"Bearer {secret}"})


def _statements(client: Any, address: str) -> list[str]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
    assert answer.status_code == 200, answer.content
    return [query["sql"] for query in captured.captured_queries]

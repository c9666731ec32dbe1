"""Polling a thousand waiting pull requests in which nothing happens, alone and beside a long history."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.benchmarks import place
from tests.benchmarks.figures.claims import copied
from tests.benchmarks.table import Row, Size, ratio

TITLE = "Waiting pull requests and the forge"
REPOSITORIES, EACH = 50, 20
HISTORY = 10_000
PAST = 9_000_000  # number of the repository that the history is of
POLL_SECONDS = 1
PAGE = 50  # rows
PAGES = 5  # of each list for one poll


def measure(size: Size) -> list[Row]:
    """Polls of this process against a simulated GitHub of the same process, whose threads' CPU is not counted."""
    home = place.home(FACTORY_POLL_SECONDS=str(POLL_SECONDS))
    place.migrate()
    from fixtures.simulator import RealClock, Simulator
    from tests.db.convergence.many import asked_already, many_waiting, rows_of

    with Simulator(Path(tempfile.mkdtemp()), RealClock(), strict=False) as sim:
        _pointed_at(sim)
        asked_already(many_waiting(sim, repositories=REPOSITORIES, each=EACH))
        _poll(sim)  # the first look at each row is a full one
        alone = [_poll(sim) for _ in range(size.repetitions)]
        copied(home / "factory.sqlite3", home / "alone.sqlite3")
        rows_of(_past(HISTORY), state="converged", pull_state="converged", ended=True)
        _poll(sim)
        beside = [_poll(sim) for _ in range(size.repetitions)]
    lists = _lists([home / "alone.sqlite3", home / "factory.sqlite3"], size.repetitions * PAGES)
    return [*_polls(alone, beside), *_pages(*lists)]


def _polls(alone: list[dict[str, float]], beside: list[dict[str, float]]) -> list[Row]:
    def middle(name: str) -> float:
        return statistics.median(each[name] for each in alone)

    cpu = ([each["cpu"] for each in beside], [each["cpu"] for each in alone])
    behind = f"{middle('cpu') * 1000:.0f} ms of CPU alone"
    return [
        Row("1,000 waiting, one poll: requests to the forge", middle("requests"), "", 22),
        Row("1,000 waiting, one poll: wall time", middle("wall"), "s", 5.0),
        Row("1,000 waiting, one poll: CPU of the poller", middle("cpu"), "s", 1.5),
        ratio(f"the same poll beside {HISTORY:,} ended ones", *cpu, 1.2, note=behind),
    ]


def _pages(alone: dict[str, list[float]], beside: dict[str, list[float]]) -> list[Row]:
    return [
        ratio(
            f"{name} beside {HISTORY:,} ended ones",
            beside[name],
            alone[name],
            1.2,
            note=f"{statistics.median(alone[name]) * 1000:.1f} ms of CPU alone",
        )
        for name in alone
    ]


def _pointed_at(sim: Any) -> None:
    from django.conf import settings
    from pydantic import SecretStr

    settings.FACTORY = settings.FACTORY.model_copy(
        update={
            "github_api_url": sim.api_url,
            "stated_graphql_url": sim.graphql_url,
            "github_server_url": sim.server_url,
            "github_token": SecretStr(sim.token),
        }
    )


def _poll(sim: Any) -> dict[str, float]:
    """One look at every row, once all of them are due."""
    from convergence.models import ConvergenceFlow
    from runs.clock import now
    from runs.flows.looks import flows_pass

    waiting = ConvergenceFlow.objects.filter(due_at__isnull=False)
    while waiting.filter(due_at__gt=now()).exists():
        time.sleep(0.05)
    asked, cpu, wall = len(sim.log.entries), time.thread_time(), time.perf_counter()
    looked = flows_pass(REPOSITORIES * EACH)
    if looked != REPOSITORIES * EACH:
        raise AssertionError(f"{looked} rows were looked at")
    return {
        "requests": float(len(sim.log.entries) - asked),
        "cpu": time.thread_time() - cpu,
        "wall": time.perf_counter() - wall,
    }


def _past(count: int) -> list[Any]:
    """Pull requests that the forge is never asked about again, so that it need not know them."""
    owner = SimpleNamespace(login="acme")
    repo = SimpleNamespace(id=PAST, owner=owner, name="past", full_name="acme/past")
    return [
        SimpleNamespace(
            repo=repo,
            number=number,
            key=f"acme/past#{number}",
            node_id=f"past-{number}",
            title=f"Change {number}",
            head_ref=f"change/{number}",
            head_sha=f"{number:040x}",
            base_ref="main",
        )
        for number in range(1, count + 1)
    ]


def _lists(files: Sequence[Path], times: int) -> list[dict[str, list[float]]]:
    """CPU seconds of the first page of each list, read through and shaped; the databases take turns."""
    from convergence.selectors.lists import pulls_listed
    from factory_site.console.selectors.pulls import PullFilter, pull_list

    lists: dict[str, Callable[[], Sequence[object]]] = {
        "list of pull requests": lambda: pulls_listed().items,
        "list of waiting ones": lambda: pulls_listed(states=["waiting_review"]).items,
        "page of active ones": lambda: pull_list(PullFilter()).rows,
    }
    took: list[dict[str, list[float]]] = [{name: [] for name in lists} for _ in files]
    for _, (file, found) in product(range(times), list(zip(files, took, strict=True))):
        with place.database(file):
            for name, read in lists.items():
                _cpu(read)  # the first one opens the connection
                found[name].append(_cpu(read))
    return took


def _cpu(read: Callable[[], Sequence[object]]) -> float:
    begun = time.thread_time()
    if len(read()) != PAGE:
        raise AssertionError("the page was not full")
    return time.thread_time() - begun

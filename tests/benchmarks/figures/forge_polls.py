"""Polling a thousand waiting pull requests in which nothing happens, alone and beside a long history."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks import place
from tests.benchmarks.table import Row, Size, ratio

TITLE = "Waiting pull requests and the forge"
REPOSITORIES, EACH = 50, 20
POLL_SECONDS = 1
PAGE = 50  # rows


def measure(size: Size) -> list[Row]:
    """Polls of this process against a simulated GitHub of the same process, whose threads' CPU is not counted."""
    place.home(FACTORY_POLL_SECONDS=str(POLL_SECONDS))
    place.migrate()
    from fixtures.simulator import RealClock, Simulator
    from tests.db.convergence.many import asked_already, many_waiting, rows_of

    with Simulator(Path(tempfile.mkdtemp()), RealClock(), strict=False) as sim:
        _pointed_at(sim)
        asked_already(many_waiting(sim, repositories=REPOSITORIES, each=EACH))
        _poll(sim)  # the first look at each row is a full one
        alone = [_poll(sim) for _ in range(size.repetitions)]
        page_alone = [_page() for _ in range(size.repetitions * 3)]
        history = 1_000 if size.quick else 10_000
        rows_of(_opened(sim, history), state="converged", pull_state="converged", ended=True)
        _poll(sim)
        beside = [_poll(sim) for _ in range(size.repetitions)]
        page_beside = [_page() for _ in range(size.repetitions * 3)]
    return _rows(alone, beside, page_alone, page_beside, history)


def _rows(
    alone: list[dict[str, float]],
    beside: list[dict[str, float]],
    page_alone: list[float],
    page_beside: list[float],
    history: int,
) -> list[Row]:
    def middle(name: str) -> float:
        return statistics.median(each[name] for each in alone)

    behind = f"{middle('cpu') * 1000:.0f} ms of CPU alone"
    listed = f"{statistics.median(page_alone) * 1000:.1f} ms alone"
    cpu = ([each["cpu"] for each in beside], [each["cpu"] for each in alone])
    return [
        Row("1,000 waiting, one poll: requests to the forge", middle("requests"), "", 22),
        Row("1,000 waiting, one poll: wall time", middle("wall"), "s", 5.0),
        Row("1,000 waiting, one poll: CPU of the poller", middle("cpu"), "s", 1.5),
        ratio(f"the same poll beside {history:,} ended ones", *cpu, 1.2, note=behind),
        ratio(f"list of pull requests beside {history:,} ended ones", page_beside, page_alone, 1.2, note=listed),
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


def _opened(sim: Any, count: int) -> list[Any]:
    sim.verbs.add_repository("acme/past")
    found: list[Any] = sim.verbs.add_pulls("acme/past", count)
    return found


def _page() -> float:
    """How long the first page of the list takes, read through and shaped as pages and API show it."""
    from convergence.selectors.lists import pulls_listed

    def get() -> None:
        if len(pulls_listed().items) != PAGE:
            raise AssertionError("the page was not full")

    return place.timed(get)

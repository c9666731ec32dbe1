"""How soon a review leads to the next agent run: by its webhook, and by the poll alone when every webhook is lost."""

import statistics
import tempfile
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks import place
from tests.benchmarks.system import served, until
from tests.benchmarks.table import Row, Size, percentile
from tests.process.system import free_port

TITLE = "From a review to the next agent run"
POLL_SECONDS = 10
FOLDED = 4.0  # seconds: a delivery right after a look shares the next one, 2 s later and found by a pass
LATEST = 1.25  # poll intervals: the spread of the polls, the pass that comes each second, and the look itself
SECRET = "bench-hook-secret"
BETWEEN = 0.5  # seconds from one lost review to the next, so that they meet the poll at every point of its interval


def measure(size: Size) -> list[Row]:
    """A real `serve` that hears of reviews over HTTP; no worker, so that queued runs stay queued."""
    from fixtures.simulator import RealClock, Simulator

    port = free_port()
    hooks = {"hooks_url": f"http://127.0.0.1:{port}/hooks/github", "hooks_secret": SECRET.encode()}
    with Simulator(Path(tempfile.mkdtemp()), RealClock(), strict=False, **hooks) as sim:  # type: ignore[arg-type]
        home = place.home(
            FACTORY_POLL_SECONDS=str(POLL_SECONDS),
            GITHUB_API_URL=sim.api_url,
            GITHUB_GRAPHQL_URL=sim.graphql_url,
            GITHUB_SERVER_URL=sim.server_url,
            GITHUB_TOKEN=sim.token,
            GITHUB_WEBHOOK_SECRET=SECRET,
        )
        place.migrate()
        from tests.db.convergence.many import asked_already, many_waiting

        count = 20 if size.quick else 50
        pulls = many_waiting(sim, repositories=1, each=2 * count)
        asked_already(pulls)
        with served(home, port):
            until("first look at each", partial(_looked_at, len(pulls)), every=0.2)
            told = [_heard(sim, pull) for pull in pulls[:count]]
            sim.faults.lose_hooks(100 * count)
            lost = _unheard(sim, pulls[count:])
    return [
        Row("review submitted to agent run queued, by webhook, p50", statistics.median(told), "s", 1.0),
        Row("review submitted to agent run queued, by webhook, p95", percentile(told, 0.95), "s", FOLDED),
        Row(
            "the same with every webhook lost, the latest",
            max(lost) / POLL_SECONDS,
            "poll intervals",
            LATEST,
            note=f"of {POLL_SECONDS} s; p50 {statistics.median(lost):.1f} s",
        ),
    ]


def _heard(sim: Any, pull: Any) -> float:
    """Seconds from a review that a webhook tells of to the instant at which its run was put into the queue."""
    begun = _reviewed(sim, pull)
    queued: datetime = until("queued run", partial(_queued_at, pull.subject), every=0.02)
    return queued.timestamp() - begun


def _unheard(sim: Any, pulls: list[Any]) -> list[float]:
    """The same for reviews that nobody tells of, submitted all over the interval of the poll."""
    begun = {}
    for pull in pulls:
        begun[pull.subject] = _reviewed(sim, pull)
        time.sleep(BETWEEN)
    return [
        until("queued run", partial(_queued_at, subject), every=0.1).timestamp() - at for subject, at in begun.items()
    ]


def _reviewed(sim: Any, pull: Any) -> float:
    """Submit a review with one remark; return when."""
    begun = time.time()
    remark = {"path": "README.md", "line": 1, "text": "Say what it is for."}
    sim.verbs.review(pull.key, "copilot-pull-request-reviewer", threads=[remark])
    return begun


def _queued_at(subject: str) -> datetime | None:
    from runs.models import Run

    return Run.objects.filter(subject=subject).values_list("created_at", flat=True).first()


def _looked_at(count: int) -> bool:
    from convergence.models import ConvergenceFlow

    return ConvergenceFlow.rows().filter(last_look_at__isnull=False).count() == count

"""Workers: is there capacity, who is alive, and why a run is not placed."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from factory_site.console.doors import Problem, person, problem, region, show, signed_in, unchanged
from factory_site.console.selectors import workers as read
from factory_site.console.submissions import new_submission
from runs.clock import now as clock_now
from runs.contract.errors import NotFound
from runs.reading.detail import run_find
from workers.liveness import WorkerState
from workers.selectors.pools import pools

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

POLL_SECONDS = 3


@signed_in()
def worker_list(request: HttpRequest) -> HttpResponse:
    """Pools, workers that are here or that have gone, and the placement of one run if it is asked for."""
    tab = request.GET.get("tab", "here")
    tab = tab if tab in read.TABS else "here"
    live = region(request, "live", read.workers_version(person(request).pk), None if tab == "gone" else POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    rows = read.workers_gone() if tab == "gone" else read.workers_here()
    context: dict[str, Any] = {
        "here": "workers",
        "tab": tab,
        "tabs": read.TABS,
        "rows": rows,
        "pools": pools() if tab == "here" else (),
        "counts": read.counted_states(rows),
        "blocked_words": read.BLOCKED,
    }
    asked = request.GET.get("explain", "").strip()
    status = HTTPStatus.OK
    if asked:
        try:
            run = run_find(asked)
            context |= {"explained": run, "placement": read.placement(run)}
        except NotFound as error:
            context["unreadable"], status = problem(error), HTTPStatus.NOT_FOUND
    return show(request, "fleet/worker_list.html", context, live, status)


@signed_in()
def worker_detail(request: HttpRequest, worker_id: str) -> HttpResponse:
    """One boot of a worker: its state, its offer, what it holds and what it did."""
    return worker_page(request, worker_id)


def worker_page(request: HttpRequest, worker_id: str, refused: Problem | None = None, acted: str = "") -> HttpResponse:
    """The page as the worker is now; after a refused act with what was refused, and with what the person typed."""
    found = read.worker_page(worker_id)
    version = (read.workers_version(person(request).pk), found.row.state, found.row.drain_requested_at)
    is_over = found.row.state in {WorkerState.STOPPED, WorkerState.LOST}
    live = region(request, "live", version, None if is_over else POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    context: dict[str, Any] = {
        "here": "workers",
        "found": found,
        "is_overdue": found.row.heartbeat_due_at is not None and found.row.heartbeat_due_at <= clock_now(),
        "refused": refused,
        "acted": acted,
        "is_over": is_over,
        "form": request.POST if refused else {},
        "submission": new_submission(),
    }
    return show(request, "fleet/worker_detail.html", context, live, refused.status if refused else HTTPStatus.OK)

"""The system in numbers for Prometheus: gauges that are read from the database, so that every process answers alike."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from convergence.selectors.forge import forge_standing
from factory_site import __version__
from factory_site.figures.queue_counts import queue_counts
from factory_site.models import DoctorReport
from runs.clock import now
from runs.models import Attempt, Outbox, PeriodicTask, Run
from runs.outbox.dispatch import PENDING, consumed_topics
from runs.queue.limits.standing import standing_now
from workers.selectors.pools import pools
from workers.selectors.workers import worker_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

WINDOW = timedelta(hours=1)
NEWEST = 2_000  # runs and attempts that are looked at for what ended within the window
QUANTILES = (0.5, 0.95)
MICRO = 1_000_000


def metrics_text() -> bytes:
    """Every metric in the text format; bounded reads by index."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Facts())
    return generate_latest(registry)


class _Facts(Collector):
    """Reads everything at the moment of a scrape."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one family after the other."""
        at = now()
        yield _labelled("factory_info", "The version that answers.", ("version",), {(__version__,): 1})
        yield from _queue(at)
        yield from _ended(at)
        yield from _fleet()
        yield from _clockwork(at)
        yield from _spend(at)
        yield from _forge()


def _queue(at: datetime) -> Iterator[GaugeMetricFamily]:
    counts = queue_counts()
    waiting = {("ready",): counts.ready, ("backoff",): counts.backoff, **{(h,): n for h, n in counts.held.items()}}
    yield _labelled("factory_runs_queued", "Queued runs, ready ones and by what holds them.", ("hold",), waiting)
    age = (at - counts.oldest_ready_at).total_seconds() if counts.oldest_ready_at else 0
    yield _plain("factory_oldest_ready_seconds", "How long the oldest ready run has been queued.", age)


def _ended(at: datetime) -> Iterator[GaugeMetricFamily]:
    since = at - WINDOW
    newest = Run.objects.order_by("-id").values_list("state", "cause", "ended_at", "created_at", "first_claimed_at")
    runs = list(newest[:NEWEST])
    ended = Counter((state, cause or "none") for state, cause, end, _, _ in runs if end is not None and end > since)
    yield _labelled("factory_runs_ended", "Runs that ended within the last hour.", ("state", "cause"), ended)
    waits = [(first - made).total_seconds() for _, _, _, made, first in runs if first is not None and first > since]
    yield _quantiles("factory_run_wait_seconds", "From a run's making to its first claim, last hour.", waits)
    columns = ("cause", "finished_at", "claimed_at", "number", "run__queued_at", "run__attempt_number")
    attempts = list(Attempt.objects.order_by("-id").values_list(*columns)[:NEWEST])
    causes = Counter((row[0] or "none",) for row in attempts if row[1] is not None and row[1] > since)
    yield _labelled("factory_attempts_ended", "Attempts that ended within the last hour.", ("cause",), causes)
    pickups = [
        (claimed - queued).total_seconds()
        for _, _, claimed, number, queued, count in attempts
        if claimed > since and number == count and queued is not None and queued <= claimed
    ]
    yield _quantiles("factory_run_pickup_seconds", "From the last queueing to the newest claim, last hour.", pickups)


def _fleet() -> Iterator[GaugeMetricFamily]:
    workers = {(state,): number for state, number in worker_counts().items()}
    yield _labelled("factory_workers", "Workers by state.", ("state",), workers)
    rows = pools()
    names = ("node", "pool")
    live = {(row.node, row.name): int(row.supervisor == "live") for row in rows}
    yield _labelled("factory_pool_supervised", "Whether a pool's supervisor lives.", names, live)
    claimable = {(row.node, row.name): row.claimable for row in rows if row.claimable is not None}
    yield _labelled("factory_pool_claimable", "Ready runs that a pool could lease, at most 100.", names, claimable)


def _clockwork(at: datetime) -> Iterator[GaugeMetricFamily]:
    pending = Outbox.objects.filter(PENDING, available_at__lte=at, topic__in=consumed_topics())
    oldest = pending.order_by("available_at", "id").values_list("available_at", flat=True).first()
    yield _plain("factory_outbox_lag_seconds", "How long the oldest due effect waits.", _seconds(oldest, at))
    due = PeriodicTask.objects.filter(name="reaper").values_list("due_at", flat=True).first()
    yield _plain("factory_reaper_lag_seconds", "How late the reaper is.", _seconds(due, at))
    report = DoctorReport.objects.filter(pk=1).first()
    yield _plain("factory_anomalies", "What doctor found at its last look.", report.anomalies if report else 0)


def _spend(at: datetime) -> Iterator[GaugeMetricFamily]:
    day = standing_now(at=at, whole=True).day
    if day is not None:
        yield _plain("factory_spend_today_usd", "Spent since midnight UTC.", day.spent.micro_usd / MICRO)
        yield _plain("factory_spend_today_tokens", "Tokens used since midnight UTC.", day.spent.tokens)


def _forge() -> Iterator[GaugeMetricFamily]:
    found = forge_standing()
    if found is None:
        return
    left = {("core",): found.core.remaining, ("graphql",): found.graphql.remaining}
    known = {name: number for name, number in left.items() if number is not None}
    yield _labelled("factory_forge_remaining", "Requests left of the hourly budget.", ("resource",), known)
    yield _plain("factory_forge_blocked", "Whether no request may be sent.", int(found.blocked_until is not None))


def _seconds(since: datetime | None, at: datetime) -> float:
    return max(0.0, (at - since).total_seconds()) if since else 0.0


def _plain(name: str, says: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, says, value=value)


def _labelled(name: str, says: str, labels: Sequence[str], values: Mapping[Any, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, says, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _quantiles(name: str, says: str, seconds: Iterable[float]) -> GaugeMetricFamily:
    """Nearest-rank quantiles; none without a value."""
    family = GaugeMetricFamily(name, says, labels=("quantile",))
    found = sorted(seconds)
    for quantile in QUANTILES if found else ():
        rank = min(len(found) - 1, int(quantile * len(found)))
        family.add_metric((str(quantile),), found[rank])
    return family

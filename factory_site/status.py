"""What is going on, in one document: for the command, the API and the console."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import Count
from pydantic.alias_generators import to_camel

from convergence.flow import FINAL_PULL_STATES
from convergence.models import PullRequest
from convergence.selectors.forge import forge_document
from factory_site import __version__
from factory_site.doctor.report import Level, findings_recent
from factory_site.figures.database_facts import database_bytes
from factory_site.figures.queue_counts import queue_counts
from factory_site.shell.limit_lines import pause_json, spend_document
from runs.clock import now as clock_now
from runs.flow import HELD, LIVE, RunState
from runs.flows.registry import flow_types
from runs.humans.flow import TaskState
from runs.models import HumanTask, Outbox, PeriodicTask, Run
from runs.outbox.dispatch import PENDING, consumed_topics
from runs.queue.limits.pauses import pauses_in_force
from workers.selectors.pools import PoolRow, pools
from workers.selectors.workers import worker_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from factory_site.doctor.report import Finding

MOST_COUNTED = 1000
MOST_RUNS = 100_000  # of one state; more than this are told as so many


def status_document(found: Sequence[Finding] | None = None) -> dict[str, Any]:
    """Counts by state of what is under way, workers, pools, the oldest queued run, open tasks, what is overdue.

    ``found`` is what is wrong; by default what this process found within the last seconds.
    """
    now = clock_now()
    runs = _live_runs()
    tasks = HumanTask.objects.filter(state=TaskState.OPEN)
    return {
        "version": __version__,
        "at": now,
        "control": control_document(),
        "pullRequests": _by_state(PullRequest.objects.exclude(state__in=FINAL_PULL_STATES)),
        "runs": runs,
        "workers": worker_counts(),
        "pools": [pool_document(row) for row in pools()],
        "queue": queue_document(runs),
        "tasks": {
            "open": tasks[:MOST_COUNTED].count(),
            "overdue": tasks.filter(due_at__lte=now)[:MOST_COUNTED].count(),
        },
        "spend": spend_document(now),
        "pauses": [pause_json(row) for row in pauses_in_force(now)],
        "forge": forge_document(),
        "oldestDueSeconds": _oldest_due_seconds(now),
        "anomalies": anomalies(findings_recent() if found is None else found),
    }


def pool_document(row: PoolRow) -> dict[str, Any]:
    """A pool as the API shows it."""
    return {to_camel(name): value for name, value in asdict(row).items()}


def control_document() -> dict[str, Any]:
    """The database behind everything, and when lost attempts were last looked for."""
    reaper = PeriodicTask.objects.filter(name="reaper").values_list("started_at", flat=True).first()
    return {"database": connection.vendor, "databaseBytes": database_bytes(), "reaperAt": reaper}


def queue_document(runs: Mapping[str, int]) -> dict[str, Any]:
    """What waits and what runs, given the live runs by state; with the run that was queued first."""
    oldest = Run.objects.filter(state=RunState.QUEUED).order_by("id").first()
    counts = queue_counts()
    return {
        "oldestQueuedAt": oldest.queued_at if oldest else None,
        "runId": oldest.run_id if oldest else None,
        "ready": counts.ready,
        "backoff": counts.backoff,
        "held": dict(counts.held),
        "running": sum(number for state, number in runs.items() if state in HELD),
        "oldestReadyAt": counts.oldest_ready_at,
    }


def anomalies(found: Sequence[Finding]) -> list[dict[str, Any]]:
    """What is wrong, each with the command that mends it; empty when all is well. Notices are left out."""
    return [
        {
            "code": each.code,
            "subject": each.examples[0] if each.examples else "",
            "text": each.text,
            "count": each.count,
            "mend": each.mend,
        }
        for each in found
        if each.level is Level.ANOMALY
    ]


def _oldest_due_seconds(now: datetime) -> float:
    """For how long the longest overdue look, pass or delivery has been due; 0 when nothing is."""
    due = [flow.model.objects.due(now).values_list("due_at", flat=True).first() for flow in flow_types()]
    due.append(PeriodicTask.objects.filter(due_at__lte=now).order_by("due_at").values_list("due_at", flat=True).first())
    pending = Outbox.objects.filter(PENDING, available_at__lte=now, topic__in=consumed_topics()).order_by(
        "available_at"
    )
    due.append(pending.values_list("available_at", flat=True).first())
    return max([0.0, *((now - each).total_seconds() for each in due if each is not None)])


def _live_runs() -> dict[str, int]:
    """How many runs are in each state that is not at rest, by one index read a state; runs at rest cost nothing."""
    counts = {str(state): Run.objects.filter(state=state)[:MOST_RUNS].count() for state in sorted(LIVE)}
    return {state: count for state, count in counts.items() if count}


def _by_state(rows: Any) -> dict[str, int]:
    return {row["state"]: row["n"] for row in rows.values("state").annotate(n=Count("pk")).order_by("state")}

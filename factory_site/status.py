"""What is going on, in one document: for the command, the API and the console."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count

from convergence.flow import FINAL_PULL_STATES
from convergence.models import PullRequest
from factory_site import __version__
from runs.clock import now as clock_now
from runs.definitions.watch import definitions_fault
from runs.flow import AT_REST
from runs.flows.registry import flow_types
from runs.humans.flow import TaskState
from runs.models import HumanTask, Outbox, PeriodicTask, Run
from runs.outbox.dispatch import PENDING, consumed_topics
from runs.policy import policy_fault
from workers.selectors.workers import worker_counts

OVERDUE = timedelta(minutes=5)  # a look or a pass that is later than this is an anomaly
MOST_COUNTED = 1000


def status_document() -> dict[str, Any]:
    """Counts by state of what is under way, workers, the oldest queued run, open tasks, and what is overdue."""
    now = clock_now()
    oldest = Run.objects.filter(state="queued").order_by("queued_at").first()
    tasks = HumanTask.objects.filter(state=TaskState.OPEN)
    return {
        "version": __version__,
        "at": now,
        "pullRequests": _by_state(PullRequest.objects.exclude(state__in=FINAL_PULL_STATES)),
        "runs": _by_state(Run.objects.exclude(state__in=AT_REST)),
        "workers": worker_counts(),
        "queue": {"oldestQueuedAt": oldest.queued_at if oldest else None, "runId": oldest.run_id if oldest else None},
        "tasks": {
            "open": tasks[:MOST_COUNTED].count(),
            "overdue": tasks.filter(due_at__lte=now)[:MOST_COUNTED].count(),
        },
        "oldestDueSeconds": _oldest_due_seconds(now),
        "anomalies": anomalies(),
    }


def anomalies() -> list[dict[str, Any]]:
    """What is wrong now, each with the words that mend it; empty when all is well."""
    now = clock_now()
    found: list[dict[str, Any]] = []
    for flow in flow_types():
        late = flow.model.objects.due(now - OVERDUE)[:MOST_COUNTED]
        found += [
            {"code": "flow_overdue", "subject": row.subject, "text": f"its look was due at {row.due_at:%H:%M:%S} UTC"}
            for row in late
        ]
    found += [
        {"code": "outbox_dead", "subject": row.stream, "text": f"{row.key}: {row.last_error}"}
        for row in Outbox.objects.filter(dead_at__isnull=False).order_by("-id")[:50]
    ]
    found += [
        {"code": "pass_failing", "subject": row.name, "text": row.error}
        for row in PeriodicTask.objects.exclude(error="")
    ]
    if policy_fault():
        found.append({"code": "registry_invalid", "subject": "policy.yaml", "text": policy_fault()})
    if definitions_fault():
        found.append({"code": "registry_invalid", "subject": "definitions", "text": definitions_fault()})
    return found


def _oldest_due_seconds(now: datetime) -> float:
    """For how long the longest overdue look, pass or delivery has been due; 0 when nothing is."""
    due = [flow.model.objects.due(now).values_list("due_at", flat=True).first() for flow in flow_types()]
    due.append(PeriodicTask.objects.filter(due_at__lte=now).order_by("due_at").values_list("due_at", flat=True).first())
    pending = Outbox.objects.filter(PENDING, available_at__lte=now, topic__in=consumed_topics()).order_by(
        "available_at"
    )
    due.append(pending.values_list("available_at", flat=True).first())
    return max([0.0, *((now - each).total_seconds() for each in due if each is not None)])


def _by_state(rows: Any) -> dict[str, int]:
    return {row["state"]: row["n"] for row in rows.values("state").annotate(n=Count("pk")).order_by("state")}

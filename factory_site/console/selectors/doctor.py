"""What the doctor's page shows beside the findings: passes, deliveries, stored objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from factory_site.console.selectors.pull import pull_by_subject
from factory_site.doctor.report import Finding, findings_recent
from runs.models import Outbox, PeriodicTask
from runs.outbox.dispatch import PENDING, consumed_topics

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.models import PullRequest

MOST_COUNTED = 1_000
DEAD_SHOWN = 20


@dataclass(frozen=True, slots=True)
class PassRow:
    """One pass: how often it begins, when it last did, and whether it is late or fails."""

    name: str
    seconds: float
    started_at: datetime | None
    error: str
    is_late: bool


@dataclass(frozen=True, slots=True)
class DeadRow:
    """One delivery that was given up."""

    row_id: int
    key: str
    topic: str
    tries: int
    last_error: str
    dead_at: datetime | None


@dataclass(frozen=True, slots=True)
class DoctorPage:
    """Everything on the page, comparable, so that it also tells whether anything has changed."""

    findings: tuple[Finding, ...]
    passes: tuple[PassRow, ...]
    pending: int
    retrying: int
    dead: tuple[DeadRow, ...]
    pulls: Mapping[str, PullRequest]


def doctor_page() -> DoctorPage:
    """All of it; each part is a bounded read by index."""
    found = findings_recent()
    late = {name for each in found if each.code in {"task_stalled", "reaper_stalled"} for name in each.examples}
    waiting = Outbox.objects.filter(PENDING, topic__in=consumed_topics()).order_by("available_at")
    pending = list(waiting.values_list("tries", flat=True)[:MOST_COUNTED])
    return DoctorPage(
        findings=tuple(found),
        passes=tuple(
            PassRow(row.name, row.interval_seconds, row.started_at, row.error, row.name in late)
            for row in PeriodicTask.objects.order_by("name")
        ),
        pending=len(pending),
        retrying=sum(1 for tries in pending if tries > 1),
        pulls=pull_by_subject([name for each in found for name in each.examples]),
        dead=tuple(
            DeadRow(row.pk, row.key, row.topic, row.tries, row.last_error, row.dead_at)
            for row in Outbox.objects.filter(dead_at__isnull=False).order_by("-id")[:DEAD_SHOWN]
        ),
    )

"""The few figures that stand on every page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Exists, Q, Subquery

from convergence.models import ForgeBudget, ForgeCredential
from factory_site.console.selectors.counted import Counted
from factory_site.models import DoctorReport
from runs.flow import LIVE, RunState
from runs.humans.flow import TaskState
from runs.models.human_task import HumanTask
from runs.models.limits import PauseScope
from runs.models.periodic import PeriodicTask
from runs.models.run import Run
from runs.models.user import User
from runs.queue.limits.pauses import pauses_in_force
from runs.queue.limits.sentences import pause_name, who
from workers.models import Worker

if TYPE_CHECKING:
    from datetime import datetime

COUNT_LIMIT = 1_000  # a count reads at most one index entry more than this


@dataclass(frozen=True, slots=True)
class Pulse:
    """Counts are capped; `last_tick` is the newest start of any periodic pass; `pause` is one pause in words."""

    open_tasks: int
    queued: bool
    live_workers: bool
    last_tick: datetime | None
    live_runs: int
    lost_or_blocked: int
    anomalies: int
    forge_blocked_until: datetime | None = None
    forge_failing_since: datetime | None = None
    pauses: int = 0
    pause: str = ""


def pulse(person: User, now: datetime) -> Pulse:
    """The frame's figures, in two reads by index, and one more while anything is paused."""
    alive = now - timedelta(seconds=settings.FACTORY.liveness_seconds)
    credential = ForgeCredential.objects.order_by("-checked_at").values("credential_id")[:1]
    budgets = ForgeBudget.objects.filter(credential_id=Subquery(credential))
    here = Worker.objects.filter(stopped_at__isnull=True).order_by()
    has_queued, has_live, last_tick, live_runs, lost_or_blocked, found, blocked_until, failing_since, paused = (
        User.objects.filter(pk=person.pk)
        .values_list(
            Exists(Run.objects.filter(state=RunState.QUEUED)),
            Exists(Worker.objects.filter(stopped_at__isnull=True, last_seen_at__gt=alive)),
            Subquery(
                PeriodicTask.objects.filter(started_at__isnull=False).order_by("-started_at").values("started_at")[:1]
            ),
            Counted(Run.objects.filter(state__in=LIVE).order_by().values("id")[: COUNT_LIMIT + 1]),
            Counted(here.filter(Q(last_seen_at__lte=alive) | ~Q(blocked_reason="")).values("id")[: COUNT_LIMIT + 1]),
            Subquery(DoctorReport.objects.values("anomalies")[:1]),
            Subquery(budgets.filter(blocked_until__gt=now).order_by("-blocked_until").values("blocked_until")[:1]),
            Subquery(budgets.filter(failing_since__isnull=False).order_by("failing_since").values("failing_since")[:1]),
            Counted(pauses_in_force(now).order_by().values("id")[: COUNT_LIMIT + 1]),
        )
        .get()
    )
    return Pulse(
        open_tasks=HumanTask.objects.filter(state=TaskState.OPEN).order_by()[: COUNT_LIMIT + 1].count(),
        queued=has_queued,
        live_workers=has_live,
        last_tick=last_tick,
        live_runs=live_runs,
        lost_or_blocked=lost_or_blocked,
        anomalies=found or 0,
        forge_blocked_until=blocked_until,
        forge_failing_since=failing_since,
        pauses=paused,
        pause=_pause(now) if paused else "",
    )


def _pause(now: datetime) -> str:
    """The pause that covers most, in words: what, why, who."""
    pause = min(pauses_in_force(now), key=lambda each: (each.scope != PauseScope.GLOBAL, each.pk), default=None)
    return "" if pause is None else f"{pause_name(pause)}: “{pause.reason}”, by {who(pause.actor)}"

"""Checks of what moves everything by itself: passes, deliveries, settings and policy."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Q

from factory_site.doctor.report import EXAMPLES, Finding
from runs.definitions.watch import definitions_fault
from runs.models import Outbox, PeriodicTask
from runs.outbox.dispatch import PENDING, consumed_topics
from runs.periodic import passes
from runs.policy import policy_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESTART = "restart: manage.py serve"
REAPER_STALLED = timedelta(seconds=30)
STALLED_INTERVALS, STALLED_AT_LEAST = 3, timedelta(seconds=60)
OUTBOX_LAG = timedelta(seconds=60)
MOST_COUNTED = 1_000


def passes_stalled(at: datetime) -> list[Finding]:
    """Passes that did not start for three of their intervals; the reaper has less patience."""
    found = []
    known = {each.name for each in passes()}
    for row in PeriodicTask.objects.filter(name__in=known, due_at__lt=at).order_by("due_at"):
        patience = max(STALLED_AT_LEAST, STALLED_INTERVALS * timedelta(seconds=row.interval_seconds))
        is_reaper = row.name == "reaper"
        since = row.started_at or row.due_at
        if at - row.due_at <= (REAPER_STALLED if is_reaper else patience):
            continue
        if is_reaper:
            text = f"lost attempts are not taken back since {since:%H:%M:%S} UTC"
            found.append(Finding("reaper_stalled", 1, since, text, (row.name,), RESTART))
        else:
            text = f"the pass {row.name} last began {since:%Y-%m-%d %H:%M:%S} UTC"
            found.append(Finding("task_stalled", 1, since, text, (row.name,), RESTART))
    return found


def passes_failing(at: datetime) -> list[Finding]:
    """Passes whose last start ended in a fault."""
    del at
    return [
        Finding("pass_failing", 1, row.started_at, f"the pass {row.name} fails: {row.error}", (row.name,), RESTART)
        for row in PeriodicTask.objects.exclude(error="").order_by("name")[:50]
    ]


def outbox_dead(at: datetime) -> list[Finding]:
    """Deliveries that were given up."""
    del at
    rows = list(Outbox.objects.filter(dead_at__isnull=False).order_by("-id")[:MOST_COUNTED])
    if not rows:
        return []
    text = f"{_effects(len(rows))} given up: {rows[0].key}: {rows[0].last_error}"
    names = tuple(row.stream for row in rows[:EXAMPLES])
    return [
        Finding("outbox_dead", len(rows), rows[-1].dead_at, text, names, f"manage.py runs requeue-effect {rows[0].pk}")
    ]


def outbox_lag(at: datetime) -> list[Finding]:
    """Deliveries that are due for a minute and not made."""
    rows = list(
        Outbox.objects.filter(PENDING, available_at__lt=at - OUTBOX_LAG, topic__in=consumed_topics())
        .filter(Q(claimed_until__isnull=True) | Q(claimed_until__lt=at))
        .order_by("available_at", "id")[:MOST_COUNTED]
    )
    if not rows:
        return []
    since = rows[0].available_at
    text = f"{_effects(len(rows), 'wait', 'waits')} since {since:%H:%M:%S} UTC"
    names = tuple(row.key for row in rows[:EXAMPLES])
    return [Finding("outbox_lag", len(rows), since, text, names, "manage.py status; restart serve if it grows")]


def settings_wrong(at: datetime) -> list[Finding]:
    """Settings that were ignored because of their values."""
    del at
    return [
        Finding("settings_invalid", 1, None, sentence, (), "edit settings.env, then manage.py serve")
        for sentence in settings.FACTORY.settings_invalid
    ]


def policy_wrong(at: datetime) -> list[Finding]:
    """A policy that is not in use because of what stands in it."""
    del at
    fault = policy_fault()
    mend = "edit policy.yaml in the data folder"
    return [Finding("registry_invalid", 1, None, fault, ("policy.yaml",), mend)] if fault else []


def definitions_wrong(at: datetime) -> list[Finding]:
    """Files of agents that cannot be loaded because of what stands in them."""
    del at
    fault = definitions_fault()
    mend = "edit the named file in the data folder, then manage.py sync_definitions"
    return [Finding("registry_invalid", 1, None, fault, ("definitions",), mend)] if fault else []


def _effects(number: int, many: str = "were", one: str = "was") -> str:
    return f"{number} effect {one}" if number == 1 else f"{number} effects {many}"


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    passes_stalled,
    passes_failing,
    outbox_dead,
    outbox_lag,
    settings_wrong,
    policy_wrong,
    definitions_wrong,
)

"""Checks of what people and policy hold back: pauses that were forgotten, budgets that are used up, keys held long."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from factory_site.doctor.report import EXAMPLES, Finding
from runs.flow import RunState
from runs.models import Hold, Run
from runs.queue.limits.pauses import pauses_in_force
from runs.queue.limits.sentences import pause_name, raise_command, resume_command, used_words, who
from runs.queue.waiting import exclusive_holders
from runs.reading.limits import limits_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAUSED_LONG = timedelta(hours=24)
HOLD_OLD = timedelta(hours=6)
MOST_COUNTED = 1_000


def pauses_long(at: datetime) -> list[Finding]:
    """Pauses in force for more than a day."""
    rows = list(pauses_in_force(at).filter(since__lt=at - PAUSED_LONG)[:MOST_COUNTED])
    if not rows:
        return []
    first = rows[0]
    name = pause_name(first)
    text = f"{name} is paused since {first.since:%Y-%m-%d %H:%M} UTC by {who(first.actor)}: {first.reason}"
    names = tuple(pause_name(row) for row in rows[:EXAMPLES])
    return [Finding("paused_long", len(rows), first.since, text, names, resume_command(first))]


def budgets_reached(at: datetime) -> list[Finding]:
    """Budgets that are used up, the day's first, with how many runs wait for each."""
    del at
    rows = [row for row in limits_page().budgets if row.balance.is_reached]
    if not rows:
        return []
    first = rows[0]
    waiting = f"{first.held} {'run waits' if first.held == 1 else 'runs wait'}"
    text = f"the budget of {first.words} reached {used_words(first.balance)}; {waiting}"
    names = tuple(row.key for row in rows[:EXAMPLES])
    mend = raise_command(first.scope, first.key)
    return [Finding("budget_reached", len(rows), None, text, names, f"{mend}, or the limit in policy.yaml")]


def holds_old(at: datetime) -> list[Finding]:
    """Runs that wait for hours for another on the same thing."""
    rows = list(
        Run.objects.filter(state=RunState.QUEUED, hold=Hold.EXCLUSIVE, queued_at__lt=at - HOLD_OLD).order_by("id")[
            :MOST_COUNTED
        ]
    )
    if not rows:
        return []
    first = rows[0]
    holder = exclusive_holders([first]).get(first.exclusive_key, "")
    held = f", held by run {holder}" if holder else ""
    text = f"run {first.run_id} waits for key {first.exclusive_key}{held}"
    names = tuple(row.run_id for row in rows[:EXAMPLES])
    mend = f"manage.py runs show {holder or first.run_id}"
    return [Finding("hold_old", len(rows), first.queued_at, text, names, mend)]


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (pauses_long, budgets_reached, holds_old)

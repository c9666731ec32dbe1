"""Pauses, caps and budgets with what people did to them lately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs.models import BudgetRaise, Pause, SpendScope
from runs.queue.limits.sentences import pause_name
from runs.reading.limits import LimitsPage, limits_page, subject_labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

MOST_ACTS = 20


@dataclass(frozen=True, slots=True)
class PauseShown:
    """One pause in force, what it covers in words, and how many ready runs it holds back."""

    row: Pause
    name: str
    held: int


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody did: when, who, what, why. ``added``: a raise, as µUSD and tokens."""

    at: datetime
    actor: str
    what: str
    reason: str
    added: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class LimitsShown:
    """The page."""

    page: LimitsPage
    pauses: Sequence[PauseShown]
    acts: Sequence[Act]


def limits_shown() -> LimitsShown:
    """Everything on the page; a bounded number of reads."""
    page = limits_page()
    shown = [PauseShown(row, pause_name(row), page.paused_runs.get(row.pk, 0)) for row in page.pauses]
    return LimitsShown(page, shown, _acts())


def _acts() -> list[Act]:
    """The last pauses, lifts and raises, the newest first."""
    rows = list(Pause.objects.order_by("-id")[:MOST_ACTS])
    acts = [Act(row.since, row.actor, f"paused {pause_name(row)}", row.reason) for row in rows]
    acts += [
        Act(row.lifted_at, row.lifted_by, f"lifted the pause of {pause_name(row)}", row.lift_reason)
        for row in rows
        if row.lifted_at is not None
    ]
    raises = list(BudgetRaise.objects.order_by("-id")[:MOST_ACTS])
    labels = subject_labels([row.key for row in raises if row.scope == SpendScope.SUBJECT])
    acts += [
        Act(
            at=row.at,
            actor=row.actor,
            what=f"raised the budget of {labels.get(row.key, row.key)}",
            reason=row.reason,
            added=(row.cost_micro_usd, row.tokens),
        )
        for row in raises
    ]
    return sorted(acts, key=lambda act: act.at, reverse=True)[:MOST_ACTS]

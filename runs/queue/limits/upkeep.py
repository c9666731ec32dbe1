"""The pass of the limits: what time and files change by themselves.

Every claim decides anew, so a late pass is late news and no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.clock import now
from runs.models import Hold, Run
from runs.policy import policy
from runs.queue.limits.pauses import pauses_expired
from runs.queue.limits.warnings import warnings_given, warnings_withdrawn
from runs.queue.notices import work_appeared
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from runs.policy.limits import Budgets

SECONDS = 5.0


class _BudgetsSeen:
    """The budgets that this process saw last; None before its first pass."""

    def __init__(self) -> None:
        self._last: Budgets | None = None

    def have_changed(self) -> bool:
        """Whether they differ from those of the last call; the first says yes, for nobody knows what was before."""
        last, self._last = self._last, policy().budgets
        return last != self._last


_budgets = _BudgetsSeen()


def limits_pass() -> int:
    """Lift what has ended, free what changed budgets may allow, warn where money runs out; how many changes.

    Any number of passes at once come to the same.
    """
    at = now()
    changes = pauses_expired(at)
    if _budgets.have_changed():
        changes += budget_holds_released()
    return changes + warnings_given(at) + warnings_withdrawn(at)


def budget_holds_released() -> int:
    """Make every run ready that a budget holds, in one transaction; how many. A claim holds again what must wait."""
    with write_transaction():
        held = Run.objects.filter(state="queued", hold__in=[Hold.SUBJECT_BUDGET, Hold.RUN_BUDGET])
        freed = held.update(hold=Hold.NONE, hold_checked_at=None)
        if freed:
            work_appeared()
    return freed

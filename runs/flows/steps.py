"""The step of a flow that waits for a run: whether it still does, and its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F

from runs.flows.registry import flow_types
from runs.nudge import nudge

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from django.db.models import QuerySet

    from runs.models import Run
    from runs.models.flow_row import FlowRow


def flow_waits_for(run: Run, *, lock: bool = False) -> bool:
    """Whether the flow that asked for this run is still in the step that did; with ``lock``, its row is locked then."""
    row = _waiting(run)
    return row is not None and (row.select_for_update() if lock else row).first() is not None


def flow_step_delayed(run: Run, by: timedelta, at: datetime) -> None:
    """Move the timer of the step that waits for this run, in the caller's transaction, and have the flow looked at.

    A look that is under way has read the old instant: it finds the row moved on and begins again. Locks the flow's row;
    whoever also locks the run does so afterwards, as the flow's own moves do.
    """
    row = _waiting(run)
    if row is None:
        return
    row.filter(timer_at__isnull=False).update(timer_at=F("timer_at") + by)
    if row.update(version=F("version") + 1, due_at=at):
        nudge("flows")


def _waiting(run: Run) -> QuerySet[FlowRow] | None:
    """The active row whose present state the run's step entered; None when no such flow type is registered."""
    if run.flow_generation is None or run.flow_entry is None:
        return None
    for flow in flow_types():
        if flow.name == run.flow_type:
            return flow.rows(run.flow_subject).filter(
                generation=run.flow_generation, entry_log=run.flow_entry, ended_at__isnull=True
            )
    return None

"""How the run of a repairing agent stands, and when its time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.decisions.schedule import agent_time
from merging.decisions.agent_result import agent_answer
from merging.flow import MergeState
from merging.requests import FIX_CI, REBASE
from merging.services.dependencies import usable_references
from runs.models import Run
from runs.queue.flow_steps import run_outcome

if TYPE_CHECKING:
    from datetime import datetime

    from merging.looks.scene import Scene

AGENTS = {MergeState.FIXING_CI: FIX_CI, MergeState.REBASING: REBASE}


def agent_facts(scene: Scene) -> dict[str, Any]:
    """The facts of an agent state; sets the timer of the row, which runs from the first claim of the run."""
    row, now = scene.row, scene.now
    run = Run.objects.filter(run_id=row.run_id).first() if row.run_id else None
    timer = _sla(run)
    scene.columns["timer_at"] = timer
    known: dict[str, Any] = {
        "timer_passed": timer is not None and timer <= now,
        "reconciled": row.reconciled,
        "rebases": row.rebases,
        "rebase_max": row.rebase_max,
    }
    if run is None or not run.is_at_rest:
        return known
    answer = agent_answer(
        run_outcome(run),
        agent=AGENTS[MergeState(row.state)],
        started_at=row.pushed_from,
        repository=scene.pull.repository.full_name,
        server_url=scene.client.config.server_url,
    )
    scene.agent = answer
    scene.references = usable_references(scene.pull, answer.references)
    return known | {
        "agent": answer.end,
        "agent_question": bool(answer.question),
        "agent_pushed": answer.pushed,
        "agent_references": bool(scene.references),
    }


def _sla(run: Run | None) -> datetime | None:
    """When the agent's time is over; a run that waits in the queue is a matter of the pool. Extensions move it."""
    if run is None or run.first_claimed_at is None:
        return None
    return run.first_claimed_at + agent_time(settings.FACTORY.agent_sla_timeout, run.extended_seconds)

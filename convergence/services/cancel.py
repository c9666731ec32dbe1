"""Ending a pull request because a person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.flow import CONVERGENCE_MACHINE, FINAL_PULL_STATES, PullState
from convergence.models import ConvergenceFlow, PullRequest
from convergence.services.move import Step, convergence_move
from runs.clock import now as clock_now
from runs.contract.errors import Refused
from runs.flows.registry import driving
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from runs.models.flow_row import FlowRow


def pull_cancel(*, pull: PullRequest, actor: str, reason: str = "") -> PullRequest:
    """Abandon the pull request through the flow that drives it; a repeat answers the same.

    Raises ``Refused`` already_ended for another final state, and what the driving flow refuses with, such as
    merge_in_flight; then nothing changed.
    """
    pull.refresh_from_db()
    if pull.state in FINAL_PULL_STATES:
        return _ended(pull)
    found = driving(pull.subject)
    if found is None:
        return _ended(pull)
    flow, row = found
    try:
        flow.cancel(row, actor=actor, reason=reason)
    except Refused as error:
        pull.refresh_from_db()
        if error.code in {"illegal_edge", "moved_on"} and pull.state in FINAL_PULL_STATES:
            return _ended(pull)
        raise
    pull.refresh_from_db()
    return pull


def convergence_cancel(row: FlowRow, *, actor: str, reason: str = "") -> None:
    """The flow's own verb: terminal at once, its run cancelled, its question withdrawn. Raises ``Refused``."""
    now = clock_now()
    with joined_transaction():
        current = ConvergenceFlow.rows().select_related("pull__repository").get(pk=row.pk)
        convergence_move(
            current,
            CONVERGENCE_MACHINE.edge("cancelled"),
            pull=current.pull,
            actor=actor,
            now=now,
            step=Step(note=reason, outcome=f"cancelled by {actor.removeprefix('operator:')}"),
        )


def _ended(pull: PullRequest) -> PullRequest:
    if pull.state == PullState.ABANDONED:
        return pull
    raise Refused("already_ended", f"{pull.key} has already ended as {pull.state}.", details={"state": pull.state})

"""Ending a merge because a person says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from merging.facts import Facts
from merging.flow import MERGE_MACHINE, MergeState
from merging.models import MergeFlow
from merging.services.attempts import attempt_on_wire
from merging.services.move import Step, merge_move
from runs.clock import now as clock_now
from runs.contract.errors import Refused
from runs.flows.move import Effect

if TYPE_CHECKING:
    from runs.models.flow_row import FlowRow


def merge_cancel(row: FlowRow, *, actor: str, reason: str = "") -> None:
    """Abandon the flow: terminal at once, its question withdrawn. Locks the flow row.

    Raises ``Refused`` merge_in_flight, to be tried again, while the merge call is on the wire and while its landing is
    proven; then nothing changed.
    """
    now = clock_now()
    with transaction.atomic():
        current = MergeFlow.rows().select_for_update().get(pk=row.pk)
        facts = Facts(call_on_wire=attempt_on_wire(current) is not None)
        edge = MERGE_MACHINE.advance(current.state, "cancel", facts)
        if edge is None and not current.is_terminal:
            raise Refused(
                "merge_in_flight",
                f"{current.pull.key} is being merged at this moment, so it cannot be cancelled; look again shortly.",
                details={"state": current.state, "retryable": True},
            )
        left = current.state
        merge_move(
            current,
            edge or MERGE_MACHINE.edge("cancelled"),  # of an ended flow: refused by the move itself
            pull=current.pull,
            actor=actor,
            now=now,
            step=Step(
                effects=(Effect("dequeue"),) if left == MergeState.QUEUED else (),
                note=reason,
                outcome=f"cancelled by {actor.removeprefix('operator:')}",
            ),
        )

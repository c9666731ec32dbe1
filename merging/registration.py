"""What merging tells the kernel: its flow type, its place after convergence, its question and its pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.flow import CONVERGENCE_MACHINE
from convergence.submissions import DependencyPart, register_dependencies
from merging.effects.merge import merge_effect
from merging.effects.remedies import fresh_run_effect, rerun_effect
from merging.effects.tidy import delete_branch_effect, dequeue_effect
from merging.effects.update import update_effect
from merging.flow import MERGE_MACHINE
from merging.looks.look import merge_look
from merging.models import MergeFlow
from merging.services.cancel import merge_cancel
from merging.services.move import MERGE_ESCALATION
from merging.services.paused import paused_wake
from merging.services.start import merge_start, merges_missing_start
from merging.services.submitted import submitted_check, submitted_store
from merging.waiting import merge_waiting_for
from runs.flows.registry import FlowType, register_flow, register_successor
from runs.humans.tasks import TaskKind, register_kind
from runs.periodic import register_pass
from runs.queue.limits.pauses import register_lifted

if TYPE_CHECKING:
    from runs.models.flow_row import FlowRow

SWEEP_SECONDS = 60.0


def merge_fence(row: FlowRow, generation: int) -> bool:
    """Whether an effect of that generation may still leave: it is the newest. Each effect asks for its own state."""
    flow = MergeFlow.rows().select_related("pull").get(pk=row.pk)
    return flow.generation == generation == flow.pull.generation


def register() -> None:
    """Register everything; a repetition replaces the same."""
    register_flow(
        FlowType(
            name=MERGE_MACHINE.name,
            model=MergeFlow,
            look=merge_look,
            cancel=merge_cancel,
            waiting_for=merge_waiting_for,
            fence=merge_fence,
            effects={
                "merge": merge_effect,
                "update_branch": update_effect,
                "fresh_run": fresh_run_effect,
                "rerun_checks": rerun_effect,
                "dequeue": dequeue_effect,
                "delete_branch": delete_branch_effect,
            },
        )
    )
    register_successor(CONVERGENCE_MACHINE.name, merge_start)
    register_dependencies(DependencyPart(submitted_check, submitted_store))
    register_lifted(paused_wake)
    register_kind(TaskKind(MERGE_ESCALATION, "A merge needs a decision"))
    register_pass("merges", seconds=SWEEP_SECONDS, body=merges_missing_start)

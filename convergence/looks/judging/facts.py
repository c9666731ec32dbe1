"""From what a look gathered to the facts that the guards of the table decide on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from convergence.decisions.schedule import RELOOK_MAX
from convergence.flow import ConvergenceState as S
from convergence.guards import Facts
from convergence.looks.judging.judged import Judged
from convergence.looks.judging.reviews import gate_facts, wait_facts
from convergence.looks.judging.steps import progress_facts, scope_check_facts, turn_facts
from convergence.services.escalations import escalation_current
from convergence.services.memory import answer_source
from runs.humans.flow import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.looks.scene import Scene


def judge(scene: Scene) -> Judged:
    """The facts of the scene; each state adds its own to what all share."""
    row = scene.row
    shared = Facts(
        pull=scene.seen,
        unreachable=scene.unreachable,
        head=scene.head,
        head_repository=scene.pull.head_repository_id is not None,
        round=row.round,
        max_rounds=row.max_rounds,
        husk_retries=row.husk_retries,
        ack_retries=row.ack_retries,
        ack_retry_max=row.ack_retry_max,
        stale=row.stale,
        gate_head=row.gate_head or None,
    )
    return _STATES[row.state](scene, shared)


def _capture(scene: Scene, shared: Facts) -> Judged:
    row = scene.row
    found = scene.open and scene.head is not None
    used = answer_source(row) if row.answer else None
    reverted = used is not None and used.reverted_at is not None
    settled = found or row.relooks >= RELOOK_MAX
    return Judged(replace(shared, settled=settled, answer_reverted=reverted), escalation=used)


def _answer(scene: Scene, shared: Facts) -> Judged:
    current = escalation_current(scene.pull)
    if current is None or current.task.state != TaskState.ANSWERED:
        return Judged(shared, escalation=current)
    given = current.task.variables
    waives = bool(given.get("waive")) and bool(current.waivable)
    resolution = str(given.get("resolution", "retry"))
    return Judged(replace(shared, answer=resolution, waives=waives), escalation=current)


_STATES: dict[str, Callable[[Scene, Facts], Judged]] = {
    S.CAPTURE_HEAD: _capture,
    S.REVIEW_ROUND: turn_facts,
    S.CHECK_PROGRESS: progress_facts,
    S.AWAIT_REVIEW: wait_facts,
    S.CONVERGE_GATE: gate_facts,
    S.SCOPE_CHECK: scope_check_facts,
    S.AWAIT_ANSWER: _answer,
}

"""What each edge writes beside the state: one function an edge, called inside the transaction of the move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from convergence.looks.questions import question_of
from convergence.looks.writing import answers, reviews, turns
from convergence.services.move import Step

if TYPE_CHECKING:
    from convergence.looks.judging.judged import Judged
    from convergence.looks.scene import Scene
    from runs.machine import Edge

Write = Callable[["Scene", "Judged"], Step]


def step_of(edge: Edge, scene: Scene, judged: Judged) -> Step:
    """Write the rows that belong to the edge, and say what the move itself is to carry."""
    write = _WRITES.get(edge.name)
    step = write(scene, judged) if write else Step()
    facts = judged.facts
    guards = {
        "head": facts.head,
        "entryHead": facts.entry_head,
        "gate": judged.gate.result if judged.gate else None,
        "gateReason": judged.gate.reason if judged.gate else None,
        "huskRetries": scene.row.husk_retries,
        **step.guards,
    }
    step = replace(step, guards={name: value for name, value in guards.items() if value not in (None, "")})
    if edge.reason and step.question is None:
        step = replace(step, question=question_of(edge.reason, scene, judged))
    return step


_WRITES: dict[str, Write] = {
    "answer_reverted": turns.unanswered,
    "entry_captured": turns.entry,
    "claimed_converged": turns.claimed,
    "answer_recalled": answers.answer_recalled,
    "asked_input": turns.asked,
    "asked_blocked": turns.asked,
    "turn_addressed": turns.addressed,
    "run_refused": turns.stopped,
    "run_cancelled": turns.stopped,
    "agent_sla_passed": turns.stopped,
    "turn_lost": turns.lost,
    "round_cap_reached": turns.capped,
    "churn_detected": turns.churned,
    "progressed": turns.moved_on,
    "husk_retried": turns.husk_retried,
    "husk_exhausted": turns.stuck,
    "no_advance": turns.stuck,
    "empty_review_arrived": reviews.empty_review,
    "review_arrived": reviews.review,
    "stale_no_more": reviews.to_gate,
    "reviewer_unavailable_passed": reviews.to_gate,
    "gate_passed": reviews.gate_passed,
    "scope_asked": reviews.scope_asked,
    "gate_stale": reviews.gate_stale,
    "ack_repeated": reviews.ack_repeated,
    "ack_budget_spent": reviews.ack_budget_spent,
    "gate_blocked": reviews.gate_asks,
    "gate_unverifiable": reviews.gate_asks,
    "scope_outdated": reviews.scope_outdated,
    "scope_answer_recalled": answers.scope_answer_recalled,
    "scope_blocked": reviews.scope_blocked,
    "scope_passed": reviews.scope_passed,
    "answered": answers.answered,
    "answered_waive": answers.answered_waive,
    "answered_abandon": answers.abandoned,
}

"""Every guard of the merge table: a sentence about the facts of one look."""

from __future__ import annotations

from convergence.guards import PullSeen
from merging.facts import (
    COUNTED,
    LANDING_QUESTION,
    OUTCOMES,
    RETURNS_QUESTION,
    AgentEnd,
    Facts,
    Outcome,
    Reason,
    Update,
    Verdict,
)


def was_read(facts: Facts) -> bool:
    return facts.pull is not PullSeen.UNREAD


def pull_open(facts: Facts) -> bool:
    return facts.pull is PullSeen.OPEN


def pull_merged(facts: Facts) -> bool:
    return facts.pull is PullSeen.MERGED


def pull_closed(facts: Facts) -> bool:
    return facts.pull is PullSeen.CLOSED


def pull_unreachable(facts: Facts) -> bool:
    return facts.unreachable


def not_asking_about_landing(facts: Facts) -> bool:
    return facts.question != LANDING_QUESTION


def asking_about_landing(facts: Facts) -> bool:
    return facts.question == LANDING_QUESTION


def not_asking_about_returns(facts: Facts) -> bool:
    return facts.question != RETURNS_QUESTION


def needs_new_review(facts: Facts) -> bool:
    return facts.foreign_head or facts.changes_requested


def returns_left(facts: Facts) -> bool:
    return facts.returns < facts.return_max


def call_not_on_wire(facts: Facts) -> bool:
    return not facts.call_on_wire


def dependencies_clear(facts: Facts) -> bool:
    return facts.dependencies_clear


def dependency_waits(facts: Facts) -> bool:
    return facts.dependency_waits


def dependency_dead(facts: Facts) -> bool:
    return facts.dependency_dead


def dependency_cyclic(facts: Facts) -> bool:
    return facts.dependency_cyclic


def verdict_draft(facts: Facts) -> bool:
    return facts.verdict is Verdict.DRAFT


def verdict_blocked(facts: Facts) -> bool:
    return facts.verdict is Verdict.BLOCKED


def verdict_conflict(facts: Facts) -> bool:
    return facts.verdict is Verdict.CONFLICT


def verdict_ready(facts: Facts) -> bool:
    return facts.verdict is Verdict.READY


def verdict_waiting(facts: Facts) -> bool:
    return facts.verdict is Verdict.WAITING


def may_land(facts: Facts) -> bool:
    """Ready, and neither paused nor held by its plan."""
    return verdict_ready(facts) and not facts.held


def unclassified(facts: Facts) -> bool:
    return facts.unclassified


def in_merge_queue(facts: Facts) -> bool:
    return facts.in_queue


def fresh_run_due(facts: Facts) -> bool:
    return facts.fresh_run_due


def rerun_due(facts: Facts) -> bool:
    return facts.rerun_due


def no_remedy_under_way(facts: Facts) -> bool:
    return not facts.remedy_under_way


def not_reopening(facts: Facts) -> bool:
    return not facts.reopening


def manual_landing(facts: Facts) -> bool:
    return facts.manual_landing


def approval_missing(facts: Facts) -> bool:
    return facts.approval_missing


def lane_neighbour_ahead(facts: Facts) -> bool:
    return facts.lane_ahead


def lane_free(facts: Facts) -> bool:
    return facts.lane_free


def fresh_base_missing(facts: Facts) -> bool:
    return facts.fresh_base_missing


def ci_fixes_left(facts: Facts) -> bool:
    return facts.ci_fixes < facts.ci_fix_max


def rebases_left(facts: Facts) -> bool:
    return facts.rebases < facts.rebase_max


def agent_question_stands(facts: Facts) -> bool:
    """An agent said ``blocked`` with a question, and the free look found the same head still blocked."""
    return facts.reconciled and facts.blocked_again and facts.agent_question


def update_done(facts: Facts) -> bool:
    return facts.update is Update.DONE


def update_pointless(facts: Facts) -> bool:
    return facts.update is Update.POINTLESS


def update_refused(facts: Facts) -> bool:
    return facts.update is Update.REFUSED


def agent_blocked(facts: Facts) -> bool:
    return facts.agent is AgentEnd.BLOCKED


def agent_pushed_nothing(facts: Facts) -> bool:
    return not facts.agent_pushed


def not_reconciled(facts: Facts) -> bool:
    return not facts.reconciled


def agent_asks(facts: Facts) -> bool:
    return facts.agent in {AgentEnd.BLOCKED, AgentEnd.ASKS} and facts.agent_question


def agent_names_dependencies(facts: Facts) -> bool:
    return facts.agent is AgentEnd.WAITS and facts.agent_references


def agent_ended(facts: Facts) -> bool:
    return facts.agent is not None


def left_queue(facts: Facts) -> bool:
    return facts.eviction is not None


def taken_out_of_queue(facts: Facts) -> bool:
    return facts.eviction is Reason.QUEUE_TAKEN_OUT


def evictions_left(facts: Facts) -> bool:
    return facts.evictions <= facts.eviction_max


def base_dead_end(facts: Facts) -> bool:
    return facts.dead_end_base


def base_free(facts: Facts) -> bool:
    return not facts.base_busy


def rested(facts: Facts) -> bool:
    return not facts.resting


def timer_passed(facts: Facts) -> bool:
    return facts.timer_passed


def stalls_left(facts: Facts) -> bool:
    return facts.stalls < facts.stall_max


def refused_although_ready(facts: Facts) -> bool:
    return facts.refused


def retries_left(facts: Facts) -> bool:
    return facts.retries <= facts.retry_max


def effect_over(facts: Facts) -> bool:
    return not facts.effect_pending


def outcome_merged(facts: Facts) -> bool:
    return facts.attempt is not None and OUTCOMES[facts.attempt] is Outcome.MERGED


def outcome_queued(facts: Facts) -> bool:
    return facts.attempt is Reason.QUEUED


def outcome_behind(facts: Facts) -> bool:
    return facts.attempt is Reason.BEHIND


def outcome_counted(facts: Facts) -> bool:
    return facts.attempt in COUNTED


def outcome_not_counted(facts: Facts) -> bool:
    return facts.attempt in {Reason.HEAD_MODIFIED, Reason.NOT_READY}


def outcome_dead_end(facts: Facts) -> bool:
    return facts.attempt is Reason.DEAD_END_BASE


def outcome_forbidden(facts: Facts) -> bool:
    return facts.attempt is Reason.FORBIDDEN


def outcome_closed(facts: Facts) -> bool:
    return facts.attempt is Reason.CLOSED


def landing_proven(facts: Facts) -> bool:
    return facts.landed


def answer_retries(facts: Facts) -> bool:
    return facts.answer == "retry"


def answer_abandons(facts: Facts) -> bool:
    return facts.answer in {"abandon", "reject"}


def answer_approves(facts: Facts) -> bool:
    return facts.answer == "approve"


def answer_drops(facts: Facts) -> bool:
    return facts.answer == "drop_dependency"


def reason_gone(facts: Facts) -> bool:
    return facts.reason_gone

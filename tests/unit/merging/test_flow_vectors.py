"""Every edge of the merge table by hand: facts that take it, and for each of its guards facts that do not."""

from dataclasses import replace
from typing import Any

import pytest

from convergence.guards import PullSeen
from merging.facts import AgentEnd, Facts, Reason, Update, Verdict
from merging.flow import (
    AGENT_STATES,
    CANCELLABLE,
    MERGE_MACHINE,
    MERGE_WAKES,
    REACHING,
    READY_STATES,
    RETURNABLE,
    MergeState,
)

S = MergeState
OPEN = Facts(pull=PullSeen.OPEN)
READY = replace(OPEN, verdict=Verdict.READY)
WAITS = replace(OPEN, verdict=Verdict.WAITING, timer_passed=True)
FOREIGN = replace(OPEN, foreign_head=True)
MERGED = Facts(pull=PullSeen.MERGED)
LOST = replace(OPEN, timer_passed=True, effect_pending=False)


def outcome(reason, **more):
    return Facts(attempt=reason, **more)


def flagged(name: str) -> dict[str, Any]:
    """One fact that is true."""
    return {name: True}


# (sources, event, facts, name of the edge that they take; None: nothing moves)
DRAFT = replace(OPEN, verdict=Verdict.DRAFT)
RED = replace(OPEN, verdict=Verdict.BLOCKED)
STANDS = replace(RED, reconciled=True, blocked_again=True, agent_question=True)
CONFLICT = replace(OPEN, verdict=Verdict.CONFLICT)
BLOCKED_RUN = replace(OPEN, agent=AgentEnd.BLOCKED, agent_question=True)
LEFT = replace(OPEN, eviction=Reason.QUEUE_CONFLICT, evictions=5)
TO_TAKE_BACK = replace(FOREIGN, in_queue=True, effect_pending=False)
WAITS_FOR = replace(OPEN, dependency_waits=True)
VECTORS = [
    # Ended out of band.
    (CANCELLABLE, "look", MERGED, "merged_elsewhere"),
    ((S.ESCALATED,), "look", replace(MERGED, question="landing_unverified"), None),
    (CANCELLABLE, "look", Facts(pull=PullSeen.CLOSED), "closed_elsewhere"),
    (CANCELLABLE, "look", Facts(pull=PullSeen.CLOSED, reopening=True), None),
    ((S.VERIFYING_LANDING,), "look", Facts(pull=PullSeen.CLOSED), None),
    ((S.VERIFYING_LANDING,), "look", MERGED, None),
    ((*REACHING, S.ESCALATED), "look", Facts(pull=PullSeen.UNREAD), None),
    ((*REACHING, S.ESCALATED), "look", Facts(pull=PullSeen.MISSING), None),
    (CANCELLABLE, "cancel", OPEN, "cancelled"),
    (CANCELLABLE, "cancel", replace(OPEN, call_on_wire=True), None),
    ((S.VERIFYING_LANDING,), "cancel", OPEN, None),
    # Back to review.
    (RETURNABLE, "look", FOREIGN, "returned"),
    (RETURNABLE, "look", replace(OPEN, changes_requested=True), "returned"),
    (RETURNABLE, "look", replace(FOREIGN, returns=2), "returned"),
    (RETURNABLE, "look", replace(FOREIGN, returns=3), "returned_too_often"),
    (RETURNABLE, "look", replace(FOREIGN, pull=PullSeen.UNREAD), None),
    (RETURNABLE, "look", replace(FOREIGN, pull=PullSeen.UNREAD, returns=3), None),
    ((S.ESCALATED,), "look", replace(FOREIGN, question="returned_too_often"), None),
    ((S.ESCALATED,), "look", replace(FOREIGN, returns=3, question="returned_too_often"), None),
    ((S.MERGING,), "look", FOREIGN, None),
    (REACHING, "look", Facts(pull=PullSeen.MISSING, unreachable=True), "unreachable"),
    ((S.ESCALATED,), "look", Facts(pull=PullSeen.MISSING, unreachable=True), None),
    # Ready to merge?
    ((S.WAITING_DEPS,), "look", replace(OPEN, dependencies_clear=True), "dependencies_clear"),
    ((S.WAITING_DEPS,), "look", OPEN, None),
    ((S.WAITING_DEPS,), "look", WAITS_FOR, None),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_dead=True), "dependency_dead"),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_dead=True, pull=PullSeen.UNREAD), None),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_cyclic=True), "dependency_cyclic"),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_cyclic=True, pull=PullSeen.UNREAD), None),
    ((*READY_STATES, S.WAITING_LANE), "look", replace(READY, dependency_waits=True), "dependency_appeared"),
    ((S.WAITING_LANE,), "look", OPEN, None),
    ((S.WAITING_LANE,), "look", replace(OPEN, lane_free=True), "lane_free"),
    ((S.WAITING_LANE,), "look", Facts(lane_free=True), None),
    (READY_STATES, "look", Facts(dependency_waits=True), None),
    (READY_STATES, "look", DRAFT, "draft"),
    (READY_STATES, "look", replace(DRAFT, fresh_run_due=True), "fresh_run_begun"),
    (READY_STATES, "look", replace(DRAFT, remedy_under_way=True), None),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, fresh_run_due=True), "fresh_run_begun"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, in_queue=True), "queue_entered"),
    # Failing checks.
    (READY_STATES, "look", RED, "ci_fix_begun"),
    (READY_STATES, "look", replace(RED, ci_fixes=2), "ci_fix_begun"),
    (READY_STATES, "look", replace(RED, ci_fixes=3), "checks_failing"),
    (READY_STATES, "look", replace(RED, ci_fix_max=0), "checks_failing"),
    (READY_STATES, "look", replace(RED, remedy_under_way=True), None),
    (READY_STATES, "look", replace(RED, remedy_under_way=True, ci_fixes=3), None),
    (READY_STATES, "look", replace(RED, rerun_due=True), "checks_rerun"),
    (READY_STATES, "look", replace(RED, rerun_due=True, ci_fixes=3), "checks_rerun"),
    (READY_STATES, "look", replace(OPEN, rerun_due=True), None),
    (READY_STATES, "look", replace(STANDS, rerun_due=True), "agent_question_stands"),
    (READY_STATES, "look", replace(STANDS, verdict=Verdict.WAITING), None),
    (READY_STATES, "look", replace(STANDS, reconciled=False), "ci_fix_begun"),
    (READY_STATES, "look", replace(STANDS, blocked_again=False), "ci_fix_begun"),
    (READY_STATES, "look", replace(STANDS, agent_question=False), "ci_fix_begun"),
    # Conflicts.
    (READY_STATES, "look", CONFLICT, "rebase_begun"),
    (READY_STATES, "look", replace(CONFLICT, rebases=2), "rebase_begun"),
    (READY_STATES, "look", replace(CONFLICT, rebases=3), "conflict"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING), None),
    (READY_STATES, "look", OPEN, None),
    (READY_STATES, "look", replace(READY, refused=True, retries=5), "refusal_counted"),
    (READY_STATES, "look", replace(READY, refused=True, retries=6), "refused_too_often"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, refused=True), None),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, refused=True, retries=6), None),
    (READY_STATES, "look", replace(READY, dead_end_base=True), "base_is_dead_end"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, dead_end_base=True), None),
    (READY_STATES, "look", replace(READY, manual_landing=True), "landing_is_manual"),
    (READY_STATES, "look", replace(READY, approval_missing=True), "approval_missing"),
    (READY_STATES, "look", replace(READY, lane_ahead=True), "lane_held"),
    (READY_STATES, "look", replace(READY, fresh_base_missing=True, retries=5), "branch_update_begun"),
    (READY_STATES, "look", replace(READY, fresh_base_missing=True, retries=6), "branch_updates_spent"),
    (READY_STATES, "look", replace(READY, held=True), None),
    *[
        (READY_STATES, "look", replace(READY, held=True, **flagged(name)), None)
        for name in ("dead_end_base", "manual_landing", "approval_missing", "lane_ahead", "fresh_base_missing")
    ],
    *[
        (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, retries=6, **flagged(name)), None)
        for name in ("manual_landing", "approval_missing", "lane_ahead", "fresh_base_missing")
    ],
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, fresh_base_missing=True), None),
    (READY_STATES, "look", replace(READY, held=True, fresh_base_missing=True, retries=6), None),
    (READY_STATES, "look", READY, "merge_begun"),
    (READY_STATES, "look", replace(READY, retries=6), "merge_begun"),
    (READY_STATES, "look", replace(READY, base_busy=True), None),
    (READY_STATES, "look", replace(READY, resting=True), None),
    # Stalls.
    ((S.WAITING_MERGE,), "look", WAITS, "stall_probed"),
    ((S.REPOLLING,), "look", WAITS, "stall_probed_again"),
    ((S.REPOLLING,), "look", replace(WAITS, unclassified=True, stalls=5), "stall_rebased"),
    ((S.REPOLLING,), "look", replace(WAITS, unclassified=True, rebases=3), "stall_probed_again"),
    ((S.REPOLLING,), "look", replace(WAITS, unclassified=True, timer_passed=False), None),
    ((S.REPOLLING,), "look", replace(WAITS, unclassified=True, verdict=None), None),
    ((S.WAITING_MERGE,), "look", replace(WAITS, unclassified=True), "stall_probed"),
    ((S.WAITING_MERGE,), "look", replace(WAITS, stalls=4), "stall_probed"),
    ((S.REPOLLING,), "look", replace(WAITS, stalls=4), "stall_probed_again"),
    (READY_STATES, "look", replace(WAITS, stalls=5), "stalled"),
    (READY_STATES, "look", replace(WAITS, timer_passed=False, stalls=5), None),
    (READY_STATES, "look", replace(WAITS, verdict=None), None),
    (READY_STATES, "look", replace(WAITS, verdict=None, stalls=5), None),
    # The branch that is brought up to date.
    ((S.UPDATING_BRANCH,), "outcome", Facts(update=Update.DONE), "branch_updated"),
    ((S.UPDATING_BRANCH,), "outcome", Facts(update=Update.POINTLESS), "branch_not_updated"),
    ((S.UPDATING_BRANCH,), "outcome", Facts(update=Update.REFUSED), "branch_update_refused"),
    ((S.UPDATING_BRANCH,), "outcome", Facts(update=Update.REFUSED, rebases=3), "branch_update_impossible"),
    ((S.UPDATING_BRANCH,), "outcome", Facts(), None),
    ((S.UPDATING_BRANCH,), "outcome", Facts(rebases=3), None),
    ((S.UPDATING_BRANCH,), "look", LOST, "branch_update_lost"),
    ((S.UPDATING_BRANCH,), "look", replace(LOST, effect_pending=True), None),
    ((S.UPDATING_BRANCH,), "look", replace(LOST, timer_passed=False), None),
    ((S.UPDATING_BRANCH,), "look", replace(LOST, pull=PullSeen.UNREAD), None),
    # Agents.
    ((S.FIXING_CI,), "look", BLOCKED_RUN, "agent_blocked_unproven"),
    ((S.FIXING_CI,), "look", replace(BLOCKED_RUN, agent_question=False), "agent_blocked_unproven"),
    ((S.FIXING_CI,), "look", replace(BLOCKED_RUN, agent_pushed=True), "agent_asked"),
    ((S.FIXING_CI,), "look", replace(BLOCKED_RUN, reconciled=True), "agent_asked"),
    ((S.REBASING,), "look", BLOCKED_RUN, "agent_asked"),
    (AGENT_STATES, "look", replace(BLOCKED_RUN, reconciled=True, agent_question=False), "agent_ended"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.ASKS, agent_question=True), "agent_asked"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.ASKS), "agent_ended"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.WAITS, agent_references=True), "agent_waits_on_pull"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.WAITS), "agent_ended"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.ENDED), "agent_ended"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.ENDED, agent_question=True, agent_references=True), "agent_ended"),
    (AGENT_STATES, "look", Facts(agent=AgentEnd.ENDED, timer_passed=True), "agent_ended"),
    (AGENT_STATES, "look", OPEN, None),
    (AGENT_STATES, "look", replace(OPEN, agent_question=True), None),
    (AGENT_STATES, "look", replace(OPEN, timer_passed=True), "agent_sla_passed"),
    (AGENT_STATES, "look", FOREIGN, None),
    # The merge queue.
    ((S.QUEUED,), "look", OPEN, None),
    ((S.QUEUED,), "look", LEFT, "evicted"),
    ((S.QUEUED,), "look", replace(LEFT, evictions=6), "evicted_too_often"),
    ((S.QUEUED,), "look", replace(OPEN, eviction=Reason.QUEUE_TAKEN_OUT, evictions=6), "dequeued"),
    ((S.QUEUED,), "look", replace(LEFT, pull=PullSeen.UNREAD), None),
    ((S.QUEUED,), "look", replace(LEFT, pull=PullSeen.UNREAD, evictions=6), None),
    ((S.QUEUED,), "look", Facts(eviction=Reason.QUEUE_TAKEN_OUT), None),
    ((S.QUEUED,), "look", replace(OPEN, timer_passed=True), "queue_stalled"),
    ((S.QUEUED,), "look", Facts(timer_passed=True), None),
    ((S.QUEUED,), "look", TO_TAKE_BACK, "taken_back"),
    ((S.QUEUED,), "look", replace(TO_TAKE_BACK, foreign_head=False, changes_requested=True), "taken_back"),
    ((S.QUEUED,), "look", replace(TO_TAKE_BACK, foreign_head=False), None),
    ((S.QUEUED,), "look", replace(TO_TAKE_BACK, effect_pending=True), None),
    ((S.QUEUED,), "look", replace(TO_TAKE_BACK, in_queue=False), None),
    ((S.QUEUED,), "look", replace(TO_TAKE_BACK, pull=PullSeen.UNREAD), None),
    # The merge effect's outcome.
    ((S.MERGING,), "outcome", outcome(Reason.LANDED), "merge_landed"),
    ((S.MERGING,), "outcome", outcome(Reason.ALREADY_MERGED), "merge_landed"),
    ((S.MERGING,), "outcome", outcome(Reason.BASE_MODIFIED, retries=5), "merge_retried"),
    ((S.MERGING,), "outcome", outcome(Reason.TRANSIENT, retries=1), "merge_retried"),
    ((S.MERGING,), "outcome", outcome(Reason.QUEUED), "merge_queued"),
    ((S.MERGING,), "outcome", outcome(Reason.BEHIND, retries=5), "merge_behind"),
    ((S.MERGING,), "outcome", outcome(Reason.BEHIND, retries=6), "merge_retries_spent"),
    ((S.MERGING,), "outcome", outcome(Reason.REFUSED, retries=1), "merge_retried"),
    ((S.MERGING,), "outcome", outcome(Reason.BASE_MODIFIED, retries=6), "merge_retries_spent"),
    ((S.MERGING,), "outcome", outcome(Reason.HEAD_MODIFIED, retries=6), "merge_not_now"),
    ((S.MERGING,), "outcome", outcome(Reason.NOT_READY), "merge_not_now"),
    ((S.MERGING,), "outcome", outcome(Reason.DEAD_END_BASE), "merge_dead_end"),
    ((S.MERGING,), "outcome", outcome(Reason.FORBIDDEN), "merge_forbidden"),
    ((S.MERGING,), "outcome", outcome(Reason.CLOSED), "merge_found_closed"),
    ((S.MERGING,), "outcome", Facts(), None),
    ((S.MERGING,), "look", LOST, "merge_outcome_lost"),
    ((S.MERGING,), "look", replace(LOST, retries=6), "merge_outcome_lost_too_often"),
    ((S.MERGING,), "look", replace(LOST, effect_pending=True), None),
    ((S.MERGING,), "look", replace(LOST, effect_pending=True, retries=6), None),
    ((S.MERGING,), "look", replace(LOST, timer_passed=False), None),
    ((S.MERGING,), "look", replace(LOST, timer_passed=False, retries=6), None),
    ((S.MERGING,), "look", replace(LOST, pull=PullSeen.UNREAD), None),
    ((S.MERGING,), "look", replace(LOST, pull=PullSeen.UNREAD, retries=6), None),
    # Proof of landing.
    ((S.VERIFYING_LANDING,), "look", replace(MERGED, landed=True), "landing_proven"),
    ((S.VERIFYING_LANDING,), "look", replace(MERGED, landed=True, timer_passed=True), "landing_proven"),
    ((S.ESCALATED,), "look", replace(MERGED, question="landing_unverified", landed=True), "landing_proven_late"),
    ((S.ESCALATED,), "look", replace(OPEN, question="draft", landed=True), None),
    ((S.VERIFYING_LANDING,), "look", replace(MERGED, timer_passed=True), "landing_unverified"),
    ((S.VERIFYING_LANDING,), "look", Facts(timer_passed=True), None),
    # Answers.
    ((S.ESCALATED,), "look", replace(OPEN, question="draft", answer="abandon"), "answered_abandon"),
    ((S.ESCALATED,), "look", replace(OPEN, question="draft", answer="retry"), "answered"),
    ((S.ESCALATED,), "look", Facts(question="draft", answer="retry"), "answered"),
    ((S.ESCALATED,), "look", replace(MERGED, question="landing_unverified", answer="retry"), "answered_look_again"),
    ((S.ESCALATED,), "look", replace(MERGED, question="landing_unverified", answer="abandon"), "answered_abandon"),
    ((S.ESCALATED,), "look", replace(OPEN, question="dependency_closed", answer="drop_dependency"), "answered_drop"),
    ((S.ESCALATED,), "look", replace(OPEN, question="approval_required", answer="approve"), "answered_approve"),
    ((S.ESCALATED,), "look", replace(OPEN, question="approval_required", answer="reject"), "answered_abandon"),
    ((S.ESCALATED,), "look", replace(OPEN, question="draft", reason_gone=True), "reason_gone"),
    ((S.ESCALATED,), "look", replace(OPEN, question="draft"), None),
    ((S.ESCALATED,), "look", replace(WAITS, question="draft", stalls=5), None),
]
CASES = [(source, event, facts, name) for sources, event, facts, name in VECTORS for source in sources]


def taken(machine, source, event, facts):
    edge = machine.advance(source, event, facts)
    return edge.name if edge else None


def wrong(machine):
    return [case for case in CASES if taken(machine, *case[:3]) != case[3]]


@pytest.mark.parametrize(("source", "event", "facts", "name"), CASES)
def test_facts_take_exactly_this_edge(source, event, facts, name):
    assert taken(MERGE_MACHINE, source, event, facts) == name


def test_the_start_leads_to_the_first_state():
    edge = MERGE_MACHINE.edge("started")
    assert (edge.sources, edge.target, edge.event, edge.guards) == ((), S.WAITING_DEPS, "start", ())


# What each fact that a wait names looks like when it occurs.
OCCURRED = {
    ("dependencies", S.WAITING_DEPS): replace(OPEN, dependencies_clear=True),
    ("verdict", S.WAITING_MERGE): READY,
    ("verdict", S.REPOLLING): READY,
    ("timer", S.WAITING_MERGE): WAITS,
    ("timer", S.REPOLLING): WAITS,
    ("timer", S.MERGING): LOST,
    ("timer", S.VERIFYING_LANDING): replace(MERGED, timer_passed=True),
    ("lane", S.WAITING_LANE): replace(OPEN, lane_free=True),
    ("outcome", S.UPDATING_BRANCH): Facts(update=Update.DONE),
    ("timer", S.UPDATING_BRANCH): LOST,
    ("run", S.FIXING_CI): Facts(agent=AgentEnd.ENDED),
    ("run", S.REBASING): Facts(agent=AgentEnd.ENDED),
    ("timer", S.FIXING_CI): replace(OPEN, timer_passed=True),
    ("timer", S.REBASING): replace(OPEN, timer_passed=True),
    ("queue", S.QUEUED): LEFT,
    ("timer", S.QUEUED): replace(OPEN, timer_passed=True),
    ("outcome", S.MERGING): outcome(Reason.LANDED),
    ("landing", S.VERIFYING_LANDING): replace(MERGED, landed=True),
    ("answer", S.ESCALATED): Facts(question="draft", answer="retry"),
    ("reason_gone", S.ESCALATED): replace(OPEN, question="draft", reason_gone=True),
}


@pytest.mark.parametrize(("state", "fact"), [(state, fact) for state, facts in MERGE_WAKES.items() for fact in facts])
def test_each_fact_that_a_wait_names_makes_an_edge(state, fact):
    facts = MERGED if fact == "pull_request" else OCCURRED[fact, state]
    edge = MERGE_MACHINE.advance(state, "outcome" if fact == "outcome" else "look", facts)
    assert edge is not None


def test_every_state_that_lives_names_what_would_move_it():
    assert set(MERGE_WAKES) == set(MERGE_MACHINE.values) - MERGE_MACHINE.terminal

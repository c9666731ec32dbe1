"""Every edge of the merge table by hand: facts that take it, and for each of its guards facts that do not."""

from dataclasses import replace

import pytest

from convergence.guards import PullSeen
from merging.facts import Facts, Reason, Verdict
from merging.flow import BEFORE_MERGE, CANCELLABLE, MERGE_MACHINE, MERGE_WAKES, READY_STATES, RETURNABLE, MergeState

S = MergeState
OPEN = Facts(pull=PullSeen.OPEN)
READY = replace(OPEN, verdict=Verdict.READY)
WAITS = replace(OPEN, verdict=Verdict.WAITING, timer_passed=True)
FOREIGN = replace(OPEN, foreign_head=True)
MERGED = Facts(pull=PullSeen.MERGED)
LOST = replace(OPEN, timer_passed=True, effect_pending=False)


def outcome(reason, **more):
    return Facts(attempt=reason, **more)


# (sources, event, facts, name of the edge that they take; None: nothing moves)
WAITS_FOR = replace(OPEN, dependency_waits=True)
VECTORS = [
    # Ended out of band.
    (CANCELLABLE, "look", MERGED, "merged_elsewhere"),
    ((S.ESCALATED,), "look", replace(MERGED, question="landing_unverified"), None),
    (CANCELLABLE, "look", Facts(pull=PullSeen.CLOSED), "closed_elsewhere"),
    ((S.VERIFYING_LANDING,), "look", Facts(pull=PullSeen.CLOSED), None),
    ((S.VERIFYING_LANDING,), "look", MERGED, None),
    ((*BEFORE_MERGE, S.ESCALATED), "look", Facts(pull=PullSeen.UNREAD), None),
    ((*BEFORE_MERGE, S.ESCALATED), "look", Facts(pull=PullSeen.MISSING), None),
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
    (BEFORE_MERGE, "look", Facts(pull=PullSeen.MISSING, unreachable=True), "unreachable"),
    ((S.ESCALATED,), "look", Facts(pull=PullSeen.MISSING, unreachable=True), None),
    # Ready to merge?
    ((S.WAITING_DEPS,), "look", replace(OPEN, dependencies_clear=True), "dependencies_clear"),
    ((S.WAITING_DEPS,), "look", OPEN, None),
    ((S.WAITING_DEPS,), "look", WAITS_FOR, None),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_dead=True), "dependency_dead"),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_dead=True, pull=PullSeen.UNREAD), None),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_cyclic=True), "dependency_cyclic"),
    ((S.WAITING_DEPS,), "look", replace(WAITS_FOR, dependency_cyclic=True, pull=PullSeen.UNREAD), None),
    (READY_STATES, "look", replace(READY, dependency_waits=True), "dependency_appeared"),
    (READY_STATES, "look", Facts(dependency_waits=True), None),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.DRAFT), "draft"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.BLOCKED), "checks_failing"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.CONFLICT), "conflict"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING), None),
    (READY_STATES, "look", OPEN, None),
    (READY_STATES, "look", replace(READY, refused=True, retries=5), "refusal_counted"),
    (READY_STATES, "look", replace(READY, refused=True, retries=6), "refused_too_often"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, refused=True), None),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, refused=True, retries=6), None),
    (READY_STATES, "look", replace(READY, dead_end_base=True), "base_is_dead_end"),
    (READY_STATES, "look", replace(OPEN, verdict=Verdict.WAITING, dead_end_base=True), None),
    (READY_STATES, "look", READY, "merge_begun"),
    (READY_STATES, "look", replace(READY, retries=6), "merge_begun"),
    (READY_STATES, "look", replace(READY, base_busy=True), None),
    (READY_STATES, "look", replace(READY, resting=True), None),
    # Stalls.
    ((S.WAITING_MERGE,), "look", WAITS, "stall_probed"),
    ((S.REPOLLING,), "look", WAITS, "stall_probed_again"),
    ((S.WAITING_MERGE,), "look", replace(WAITS, stalls=4), "stall_probed"),
    ((S.REPOLLING,), "look", replace(WAITS, stalls=4), "stall_probed_again"),
    (READY_STATES, "look", replace(WAITS, stalls=5), "stalled"),
    (READY_STATES, "look", replace(WAITS, timer_passed=False, stalls=5), None),
    (READY_STATES, "look", replace(WAITS, verdict=None), None),
    (READY_STATES, "look", replace(WAITS, verdict=None, stalls=5), None),
    # The merge effect's outcome.
    ((S.MERGING,), "outcome", outcome(Reason.LANDED), "merge_landed"),
    ((S.MERGING,), "outcome", outcome(Reason.ALREADY_MERGED), "merge_landed"),
    ((S.MERGING,), "outcome", outcome(Reason.BASE_MODIFIED, retries=5), "merge_retried"),
    ((S.MERGING,), "outcome", outcome(Reason.TRANSIENT, retries=1), "merge_retried"),
    ((S.MERGING,), "outcome", outcome(Reason.BEHIND, retries=1), "merge_retried"),
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

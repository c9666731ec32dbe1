"""The vectors notice every change of the table, and what holds for the table whatever the facts are."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.guards import PullSeen
from merging.facts import AgentEnd, Facts, Reason, Update, Verdict
from merging.flow import AGENT_STATES, MERGE_MACHINE, READY_STATES, RETURNABLE, MergeState
from runs.machine import Edge, Machine, negated
from tests.unit.merging.test_flow_vectors import wrong

S = MergeState

MOVING = [edge for edge in MERGE_MACHINE.edges if edge.sources]


def with_edges(edges):
    machine = Machine.__new__(Machine)
    machine.name, machine.states, machine.edges = MERGE_MACHINE.name, MERGE_MACHINE.states, tuple(edges)
    return machine


@pytest.mark.parametrize(
    ("edge", "source"), [(edge, source) for edge in MOVING for source in edge.sources], ids=lambda it: str(it)[:40]
)
def test_a_vector_fails_without_this_edge_from_this_state(edge, source):
    fewer = tuple(each for each in edge.sources if each != source)
    changed = Edge(edge.name, fewer, edge.target, edge.event, edge.actors, edge.guards, edge.reason, edge.effects)
    assert wrong(with_edges([changed if each is edge else each for each in MERGE_MACHINE.edges]))


@pytest.mark.parametrize(
    ("edge", "number"), [(edge, n) for edge in MOVING for n in range(len(edge.guards))], ids=lambda it: str(it)[:40]
)
def test_a_vector_fails_with_this_guard_inverted(edge, number):
    guards = [negated(guard) if n == number else guard for n, guard in enumerate(edge.guards)]
    changed = replace(edge, guards=tuple(guards))
    assert wrong(with_edges([changed if each is edge else each for each in MERGE_MACHINE.edges]))


@pytest.mark.parametrize(
    ("edge", "number"), [(edge, n) for edge in MOVING for n in range(len(edge.guards))], ids=lambda it: str(it)[:40]
)
def test_a_vector_fails_without_this_guard(edge, number):
    guards = tuple(guard for n, guard in enumerate(edge.guards) if n != number)
    changed = replace(edge, guards=guards)
    assert wrong(with_edges([changed if each is edge else each for each in MERGE_MACHINE.edges]))


ALL_FACTS = st.builds(
    Facts,
    pull=st.sampled_from(PullSeen),
    unreachable=st.booleans(),
    dependencies_clear=st.booleans(),
    dependency_waits=st.booleans(),
    dependency_dead=st.booleans(),
    dependency_cyclic=st.booleans(),
    verdict=st.one_of(st.none(), st.sampled_from(Verdict)),
    foreign_head=st.booleans(),
    changes_requested=st.booleans(),
    returns=st.integers(0, 4),
    unclassified=st.booleans(),
    in_queue=st.booleans(),
    fresh_run_due=st.booleans(),
    rerun_due=st.booleans(),
    remedy_under_way=st.booleans(),
    reopening=st.booleans(),
    held=st.booleans(),
    manual_landing=st.booleans(),
    approval_missing=st.booleans(),
    lane_ahead=st.booleans(),
    lane_free=st.booleans(),
    fresh_base_missing=st.booleans(),
    agent=st.one_of(st.none(), st.sampled_from(AgentEnd)),
    agent_question=st.booleans(),
    agent_pushed=st.booleans(),
    agent_references=st.booleans(),
    reconciled=st.booleans(),
    blocked_again=st.booleans(),
    ci_fixes=st.integers(0, 4),
    rebases=st.integers(0, 4),
    update=st.one_of(st.none(), st.sampled_from(Update)),
    eviction=st.one_of(st.none(), st.just(Reason.QUEUE_CONFLICT), st.just(Reason.QUEUE_TAKEN_OUT)),
    evictions=st.integers(0, 6),
    dead_end_base=st.booleans(),
    base_busy=st.booleans(),
    resting=st.booleans(),
    timer_passed=st.booleans(),
    stalls=st.integers(0, 6),
    retries=st.integers(0, 6),
    attempt=st.one_of(st.none(), st.sampled_from(Reason)),
    refused=st.booleans(),
    effect_pending=st.booleans(),
    landed=st.booleans(),
    question=st.sampled_from(["", "draft", "landing_unverified", "returned_too_often"]),
    reason_gone=st.booleans(),
    answer=st.sampled_from(["", "retry", "abandon", "drop_dependency", "approve", "reject"]),
)


@given(state=st.sampled_from(READY_STATES), facts=ALL_FACTS)
def test_only_a_settled_verdict_merges_or_asks(state, facts):
    """MG-H8: no agent and no question starts from an unknown or waiting fact, except through the stall edges."""
    unsettled = replace(facts, verdict=Verdict.WAITING if facts.verdict else None, unreachable=False)
    edge = MERGE_MACHINE.advance(state, "look", unsettled)
    if edge is not None and edge.target == S.ESCALATED:
        assert edge.name in {"stalled", "returned_too_often"}
    if edge is not None and edge.target in AGENT_STATES:
        assert edge.name == "stall_rebased"
    assert edge is None or edge.target not in {S.MERGING, S.UPDATING_BRANCH}


@given(state=st.sampled_from(RETURNABLE), facts=ALL_FACTS)
def test_a_head_that_nobody_reviewed_never_begins_a_merge(state, facts):
    """MG-H2: a foreign head goes back to review or to a person, whatever else is true of it."""
    edge = MERGE_MACHINE.advance(state, "look", replace(facts, pull=PullSeen.OPEN, foreign_head=True, question=""))
    assert edge is not None
    assert edge.name in {"returned", "returned_too_often"}


@given(state=st.sampled_from(MERGE_MACHINE.values), facts=ALL_FACTS)
def test_merged_is_reached_only_by_a_proof(state, facts):
    edge = MERGE_MACHINE.advance(state, "look", facts)
    if edge is not None and edge.target == S.MERGED:
        assert facts.landed


@given(state=st.sampled_from(AGENT_STATES), facts=ALL_FACTS)
def test_a_blank_question_never_parks(state, facts):
    """MG-H9: an agent that asks nothing leads to the next look, never to a person."""
    ended = replace(facts, pull=PullSeen.OPEN, unreachable=False, agent_question=False, timer_passed=False)
    edge = MERGE_MACHINE.advance(state, "look", ended)
    assert edge is None or edge.target != S.ESCALATED

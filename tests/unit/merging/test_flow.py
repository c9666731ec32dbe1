"""Generated from the merge table: the states that it may be in, and a walk that never leaves it."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from convergence.flow import FINAL_PULL_STATES, PullState
from merging.flow import MERGE_MACHINE, MergeState
from runs.machine import Kind
from tests.unit.merging.test_flow_properties import ALL_FACTS


def test_every_state_shows_a_state_of_the_pull_request():
    assert {state.shows for state in MERGE_MACHINE.states.values()} <= {*PullState}
    for value in (MergeState.MERGED, MergeState.ABANDONED):
        assert MERGE_MACHINE.states[value].shows in FINAL_PULL_STATES


def test_every_question_has_a_reason_and_only_questions_have_one():
    for edge in MERGE_MACHINE.edges:
        assert bool(edge.reason) == (MERGE_MACHINE.states[edge.target].kind is Kind.HUMAN), edge.name


def test_only_declared_edges_leave_each_state():
    for edge in MERGE_MACHINE.edges:
        for state in MERGE_MACHINE.values:
            assert MERGE_MACHINE.allows(edge.name, state) == (state in edge.sources)


class Walk(RuleBasedStateMachine):
    """Whatever facts come, the log of edges is a connected path through the table and ends for good."""

    def __init__(self):
        super().__init__()
        self.log = [(None, MERGE_MACHINE.edge("started").target)]

    @property
    def state(self):
        return self.log[-1][1]

    @precondition(lambda self: self.state not in MERGE_MACHINE.terminal)
    @rule(facts=ALL_FACTS, event=st.sampled_from(["look", "outcome", "cancel"]))
    def feed(self, facts, event):
        edge = MERGE_MACHINE.advance(self.state, event, facts)
        if edge is not None:
            assert self.state in edge.sources
            self.log.append((self.state, edge.target))

    @precondition(lambda self: self.state in MERGE_MACHINE.terminal)
    @rule(facts=ALL_FACTS, event=st.sampled_from(["look", "outcome", "cancel"]))
    def nothing_leaves_an_end(self, facts, event):
        assert MERGE_MACHINE.advance(self.state, event, facts) is None

    @invariant()
    def connected(self):
        for (_, reached), (left, _) in zip(self.log, self.log[1:], strict=False):
            assert reached == left


TestWalk = Walk.TestCase
TestWalk.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

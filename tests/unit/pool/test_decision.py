"""What a supervisor does next: the worked rows, and what holds whatever the counts are."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from workers.host.pool.decision import Action, Decision, Facts, facts_line, facts_of, pool_decision

COOL = 3600  # seconds: the cool-down is over


def facts(pool, idle, claimable, pending=0, draining=0, **more):
    return Facts(pool=pool, idle=idle, claimable=claimable, pending=pending, draining=draining,
                 **{"surplus": COOL, **more})  # fmt: skip


@pytest.mark.parametrize(
    ("given_facts", "action", "reason"),
    [
        (facts(0, 0, 0), "spawn", "below_min"),
        (facts(1, 0, 1), "spawn", "work_waiting"),
        (facts(1, 0, 1, pending=1), "hold", "starting"),
        (facts(2, 0, 4, draining=1), "undrain", "work_waiting"),
        (facts(3, 0, 5), "hold", "at_max"),
        (facts(1, 1, 9), "hold", "steady"),
        (facts(2, 2, 0), "drain", "idle_surplus"),
        (facts(2, 2, 0, surplus=20), "hold", "cooling_down"),
        (facts(2, 1, 0, draining=1), "hold", "steady"),
        (facts(4, 1, 0), "drain", "above_max"),
        (facts(1, 0, 0, pending=1, min=2), "spawn", "below_min"),
        (facts(1, 1, 0, min=0), "drain", "idle_surplus"),
        (facts(0, 0, 1, min=0), "spawn", "work_waiting"),
    ],
)
def test_a_worked_row(given_facts, action, reason):
    """PO-S1: every worked row of the table."""
    assert pool_decision(given_facts) == Decision(Action(action), reason)


@pytest.mark.parametrize(
    ("given_facts", "action", "reason"),
    [
        (facts(1, 0, None), "hold", "control_plane_unreachable"),
        (facts(5, 0, None), "hold", "control_plane_unreachable"),
        (facts(0, 0, None), "spawn", "below_min"),
        (facts(2, 0, None, draining=2), "undrain", "below_min"),
        (facts(1, 1, 9, stuck=15), "spawn", "idle_not_taking"),
        (facts(1, 1, 9, stuck=14), "hold", "steady"),
        (facts(3, 1, 9, stuck=60), "hold", "steady"),
        (facts(0, 0, 0, backoff=True), "hold", "crash_backoff"),
        (facts(1, 0, 1, backoff=True), "hold", "crash_backoff"),
        (facts(2, 0, 1, draining=1, backoff=True), "undrain", "work_waiting"),
        (facts(1, 1, 0, reload=True), "spawn", "reload"),
        (facts(3, 1, 0, reload=True), "drain", "idle_surplus"),
    ],
)
def test_a_row_of_the_rules(given_facts, action, reason):
    assert pool_decision(given_facts) == Decision(Action(action), reason)


def any_facts(claimable):
    small = st.integers(0, 6)
    return st.builds(
        Facts, claimable=claimable, idle=small, busy=small, pool=small, pending=st.integers(0, 2),
        draining=st.integers(0, 3), min=st.integers(0, 3), max=st.integers(3, 5), surplus=st.integers(0, 120),
        stuck=st.integers(0, 30), cool_down=st.integers(0, 90), reload=st.booleans(), backoff=st.booleans(),
    )  # fmt: skip


@given(any_facts(st.none() | st.integers(0, 9)))
def test_the_decision_can_be_recomputed_from_its_line(found):
    """PO-H11"""
    decision = pool_decision(found)
    line = f"2026-08-30T12:31:04.000Z action={decision.action} slot=2 reason={decision.reason} {facts_line(found)}"
    assert facts_of(line) == found
    assert pool_decision(facts_of(line)) == decision


@given(any_facts(st.none()))
def test_while_the_control_plane_is_silent_nothing_but_the_floor_is_held(found):
    """PO-S14, PO-H4: no worker leaves, and none comes beyond the minimum."""
    decision = pool_decision(replace(found, reload=False))
    assert decision.action is not Action.DRAIN
    if found.remaining >= found.min:
        assert decision == Decision(Action.HOLD, "control_plane_unreachable")


@given(any_facts(st.integers(0, 9)))
def test_nobody_is_spawned_beyond_the_maximum_nor_asked_to_leave_below_the_minimum(found):
    """PO-H4: a drain leaves at least min, and a spawn above max happens only where min itself demands it."""
    decision = pool_decision(found)
    if decision.action is Action.SPAWN and decision.reason != "below_min":
        assert found.pool < found.max
    if decision.action is Action.DRAIN:
        assert found.remaining > found.min


class PoolWalk(RuleBasedStateMachine):
    """PO-S1, PO-H3: whatever happens to a pool, it settles between its bounds, one action at a time."""

    def __init__(self):
        super().__init__()
        self.idle = self.busy = self.starting = self.leaving = self.queue = 0
        self.min, self.max = 1, 3
        self.known = True

    @property
    def pool(self):
        return self.idle + self.busy + self.starting + self.leaving

    def seen(self, surplus):
        return Facts(
            claimable=self.queue if self.known else None, idle=self.idle if self.known else 0,
            busy=self.busy if self.known else 0, pool=self.pool, pending=self.starting, draining=self.leaving,
            min=self.min, max=self.max, surplus=surplus, stuck=COOL,
        )  # fmt: skip

    def tick(self, surplus=COOL):
        before = self.pool
        decision = pool_decision(self.seen(surplus))
        if decision.action is Action.SPAWN:
            assert before < self.max
            self.starting += 1
        elif decision.action is Action.DRAIN:
            if self.idle:
                self.idle -= 1
            elif self.busy:
                self.busy -= 1
            else:
                self.starting -= 1
            self.leaving += 1
        elif decision.action is Action.UNDRAIN:
            self.leaving -= 1
            self.busy += 1
        return decision

    @initialize()
    def first_tick(self):
        self.tick()

    @rule(surplus=st.sampled_from([0, COOL]))
    def one_tick(self, surplus):
        self.tick(surplus)

    @rule()
    def registers(self):
        self.idle, self.starting = self.idle + self.starting, 0

    @rule()
    def takes(self):
        taken = min(self.idle, self.queue)
        self.idle, self.busy, self.queue = self.idle - taken, self.busy + taken, self.queue - taken

    @rule()
    def finishes(self):
        self.idle, self.busy = self.idle + self.busy, 0

    @rule()
    def left(self):
        self.leaving = 0

    @rule()
    def dies(self):
        self.idle = max(0, self.idle - 1)

    @rule(number=st.integers(0, 9))
    def work(self, number):
        self.queue = number

    @rule(known=st.booleans())
    def control_plane(self, known):
        self.known = known

    @rule(bounds=st.sampled_from([(0, 1), (1, 1), (1, 3), (2, 4), (3, 3)]))
    def new_bounds(self, bounds):
        self.min, self.max = bounds

    @invariant()
    def settles_between_its_bounds(self):
        walk = PoolWalk()
        walk.__dict__.update({**self.__dict__, "known": True, "queue": 0})
        for _ in range(40):
            walk.registers()
            walk.finishes()
            walk.left()
            if walk.tick().action is Action.HOLD and not walk.starting:
                break
        assert walk.min <= walk.pool <= walk.max


TestPoolWalk = PoolWalk.TestCase

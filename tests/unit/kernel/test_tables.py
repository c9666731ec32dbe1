"""The tables of the run and the human task, held against the specification's own rows."""

import pytest

from runs.flow import HELD, RUN_MACHINE
from runs.humans.flow import TASK_MACHINE
from runs.machine import Edge, Kind, Machine, State, TableError, Tone, mermaid, negated

# (edge, from, to), as the specification writes them; "held" is each of leased, running and verifying.
RUN_ROWS = {
    ("propose", "", "proposed"),
    ("enqueue", "", "queued"),
    ("approve", "proposed", "approved"),
    ("queue", "approved", "queued"),
    *(
        ("cancel", source, "cancelled")
        for source in ("proposed", "approved", "queued", "leased", "running", "verifying")
    ),
    ("claim", "queued", "leased"),
    ("start", "leased", "running"),
    ("verify", "running", "verifying"),
    ("complete", "verifying", "completed"),
    ("refuse", "leased", "refused"),
    ("refuse", "verifying", "refused"),
    *(("fail", source, "failed") for source in ("leased", "running", "verifying")),
    ("time_out", "running", "timed_out"),
    ("time_out", "verifying", "timed_out"),
    ("retry", "failed", "queued"),
}
RUN_ACTORS = {
    "propose": {"planner"},
    "enqueue": {"flow", "operator"},
    "approve": {"operator", "gate"},
    "queue": {"operator", "gate"},
    "cancel": {"operator", "flow", "planner", "sweep"},
    "claim": {"worker"},
    "start": {"worker"},
    "verify": {"worker"},
    "complete": {"worker"},
    "refuse": {"worker"},
    "fail": {"worker", "reaper", "operator"},
    "time_out": {"worker", "reaper"},
    "retry": {"retry_rule", "operator"},
}
TASK_ROWS = {
    ("ask", "", "open"),
    ("recall", "", "auto_answered"),
    ("answer", "open", "answered"),
    ("withdraw", "open", "closed"),
    ("revert", "answered", "reverted"),
    ("revert", "auto_answered", "reverted"),
}


def rows(machine: Machine) -> set[tuple[str, str, str]]:
    return {(edge.name, source, edge.target) for edge in machine.edges for source in edge.sources or ("",)}


def test_the_run_moves_as_the_table_of_the_specification_says():
    assert rows(RUN_MACHINE) == RUN_ROWS


def test_each_edge_of_a_run_is_fired_by_those_whom_the_specification_names():
    assert {edge.name: set(edge.actors) for edge in RUN_MACHINE.edges} == RUN_ACTORS


def test_a_task_is_answered_or_withdrawn_once():
    assert rows(TASK_MACHINE) == TASK_ROWS


def test_every_held_state_can_fail_and_be_cancelled():
    for state in HELD:
        assert {"fail", "cancel"} <= {edge.name for edge in RUN_MACHINE.out_of(state)}


def state(value: str, kind: Kind = Kind.AUTOMATIC) -> State:
    return State(value, kind, value, "o", Tone.IDLE)


START = Edge("begin", (), "a", "begun", ("x",))
A, B, Z = state("a"), state("b"), state("z", Kind.TERMINAL)


def go(sources: tuple[str, ...], target: str, event: str = "e") -> Edge:
    return Edge("go", sources, target, event, ("x",))


@pytest.mark.parametrize(
    ("states", "edges", "says"),
    [
        ([A, Z], [START, go(("a",), "q")], "unknown states"),
        ([A, Z], [START, go(("z",), "a")], "terminal"),
        ([A, B, Z], [START, go(("a",), "z")], "unreachable"),
        ([A, Z], [START, go((), "z")], "no way out"),
        ([Z], [go((), "z"), go((), "z", "f")], "used twice"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused_by_name(states, edges, says):
    with pytest.raises(TableError, match=says):
        Machine("broken", states, edges)


def test_the_first_row_whose_guards_all_hold_wins():
    machine = Machine(
        "order",
        [state("a"), state("b", Kind.TERMINAL), state("c", Kind.TERMINAL)],
        [
            START,
            Edge("small", ("a",), "b", "look", ("x",), (lambda facts: facts < 5,)),
            Edge("any", ("a",), "c", "look", ("x",)),
        ],
    )
    assert machine.advance("a", "look", 3) is machine.edge("small")
    assert machine.advance("a", "look", 7) is machine.edge("any")
    assert machine.advance("a", "other", 3) is None
    assert machine.advance("b", "look", 3) is None


def test_a_negated_guard_says_the_opposite_and_says_so():
    def ready(facts):
        return facts

    assert negated(ready)(False)
    assert not negated(ready)(True)
    assert negated(ready).__name__ == "not_ready"


def test_the_diagram_names_every_state_and_every_edge():
    text = mermaid(RUN_MACHINE, current="running")
    assert all(f"    {value}: " in text for value in RUN_MACHINE.values)
    assert all(f": {edge.name}\n" in text for edge in RUN_MACHINE.edges)
    assert "class running now" in text

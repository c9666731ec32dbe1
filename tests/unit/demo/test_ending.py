import pytest

from factory_site.demo.ending import WRONG, ending
from factory_site.demo.played import Played
from factory_site.demo.telling import Paper

PLAIN = Paper(colour=False)


def landed(number: int, turn: int | None, *, state: str = "merged") -> Played:
    return Played(
        key=f"acme/shop#{number}",
        branch=f"step/{number}",
        title="T",
        expect="merged",
        answers=[],
        submit={},
        lands=True,
        state=state,
        ended_after=63.0,
        landed=turn,
    )


def test_each_pull_request_that_ends_as_expected_has_a_row_with_its_time():
    lines, good = ending([landed(1, 20), landed(2, 10)], [], PLAIN)
    assert good
    assert lines[1].split() == ["acme/shop#1", "merged", "merged", "0", "1:03"]
    assert len(lines) == 3


def test_an_end_that_nobody_expected_is_marked():
    lines, good = ending([landed(1, 20), landed(2, None, state="abandoned")], [], PLAIN)
    assert not good
    assert [line.endswith(WRONG) for line in lines] == [False, False, True]


def test_nothing_that_was_submitted_is_no_good_end():
    assert ending([], [], PLAIN)[1] is False


@pytest.mark.parametrize(
    ("turns", "told", "kept"),
    [
        ({1: 30, 2: 20, 3: 10}, "#3 #2 #1", True),
        ({1: 30, 2: 5, 3: 10}, f"#2 #3 #1  {WRONG}", False),
        ({1: 30, 2: None, 3: 10}, f"#3 #1  {WRONG}", False),
    ],
    ids=["in order", "one too early", "one never"],
)
def test_the_order_of_the_scenario_is_compared_with_the_landings(turns, told, kept):
    pulls = [landed(number, turn) for number, turn in turns.items()]
    lines, good = ending([*pulls, landed(9, 1)], ["step/3", "step/2", "step/1"], PLAIN)
    assert lines[-1] == f"landed one after another: {told}"
    assert good is kept

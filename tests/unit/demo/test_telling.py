import pytest

from convergence.flow import CONVERGENCE_MACHINE
from factory_site.demo.played import pulls_of
from factory_site.demo.telling import SENTENCES, Paper, clock, question, sentence, table
from merging.flow import MERGE_MACHINE

ASKING = {"await_answer", "escalated"}
EDGES = [*CONVERGENCE_MACHINE.edges, *MERGE_MACHINE.edges]


def test_every_sentence_is_of_an_edge_that_exists():
    assert set(SENTENCES) <= {edge.name for edge in EDGES}


def test_an_edge_that_asks_a_person_is_told_by_its_question_alone():
    for edge in EDGES:
        if edge.target in ASKING and edge.name not in SENTENCES:
            assert sentence(edge.name, edge.target, number=1, turn=1) is None


def test_an_edge_without_a_sentence_is_told_by_its_name():
    assert sentence("stall_probed", "repolling", number=1, turn=1) == ("stall probed", "")


def test_a_round_is_told_with_its_turn():
    told = sentence("entry_captured", "review_round", number=2, turn=3)
    assert told is not None
    assert told[0].startswith("round 2 begins")
    assert "turn 3" in told[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a/b#1 (round 1 of 20, head 9f3c2e1): who?", "who?"),
        ("a/b#1: who?", "who?"),
        ("What is\n(a/b#1: this)?", "What is (a/b#1: this)?"),
        ("word " * 30, " ".join(["word"] * 7) + " …"),
    ],
)
def test_a_question_stands_in_one_line_without_its_name(text, shown):
    assert question(text, "a/b#1", 40) == shown


def test_colour_is_only_for_who_wants_it():
    assert Paper(colour=False).toned("merged", "good") == "merged"
    assert Paper(colour=True).toned("merged", "good") == "\x1b[32mmerged\x1b[0m"
    assert Paper(colour=True).toned("merged", "") == "merged"


def test_columns_are_aligned_and_times_read_as_a_clock():
    assert table(["a", "time"], [["longer", clock(65)]]) == ["a       time", "longer  1:05"]


def test_numbers_follow_what_a_repository_has_already():
    pull = {"title": "T", "expect": "merged"}
    script = {
        "repositories": [{"name": "a/b"}, {"name": "a/c", "last_number": 40}],
        "issues": [{"repo": "a/b", "title": "I"}],
        "pulls": [{"repo": "a/b", **pull}, {"repo": "a/c", **pull, "submit": {"autoMerge": False}}],
    }
    found = list(pulls_of(script))
    assert [each.key for each in found] == ["a/b#2", "a/c#41"]
    assert [each.lands for each in found] == [True, False]

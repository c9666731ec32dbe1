from datetime import UTC, datetime, timedelta

import pytest

from convergence.flow import CONVERGENCE_MACHINE, PullState
from convergence.models import EscalationState, RoundStatus
from factory_site.console.wording import words
from factory_site.console.wording.badges import BADGES
from factory_site.console.wording.glyphs import GLYPHS
from factory_site.console.wording.texts import EDGES, PULL_REASONS
from factory_site.templatetags import console as tags
from merging.flow import MERGE_MACHINE
from runs.flow import RUN_MACHINE
from runs.humans.flow import TASK_MACHINE

NOW = datetime(2026, 3, 12, 12, 0, tzinfo=UTC)
MACHINES = (RUN_MACHINE, TASK_MACHINE, CONVERGENCE_MACHINE, MERGE_MACHINE)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.44, "0.4 s"),
        (38, "38 s"),
        (534, "8 min 54 s"),
        (840, "14 min"),
        (273_600, "3 d 4 h"),
        (-5, "0 s"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds, said):
    assert words.duration(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "just now"),
        (40, "40 s ago"),
        (7_199, "1 h ago"),
        (90_000, "Wed 11:00"),
        (20 * 86_400, "20 Feb 12:00"),
        (300 * 86_400, "16 May 2025"),
    ],
)
def test_an_age_becomes_a_weekday_and_then_a_date(seconds, said):
    assert words.ago(NOW - timedelta(seconds=seconds), NOW) == said


@pytest.mark.parametrize(
    ("seconds", "person", "timer"),
    [
        (851, "in 14 min", "in 14 min"),
        (59, "in 59 s", "in 59 s"),
        (86_040, "in 23 h 54 min", "in 23 h 54 min"),
        (0, "overdue 0 s", "due, 0 s late"),
        (-130, "overdue 2 min", "due, 2 min late"),
    ],
)
def test_no_countdown_is_negative(seconds, person, timer):
    at = NOW + timedelta(seconds=seconds)
    assert words.countdown(at, NOW, for_people=True) == person
    assert words.countdown(at, NOW, for_people=False) == timer


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (1_284, "1,284"), (99_999, "99,999"), (412_345, "412 k"), (10_200_000, "10.2 M")]
)
def test_numbers_are_abbreviated_from_a_hundred_thousand(value, said):
    assert words.number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "not reported"), (0, "$0.00"), (400, "<$0.01"), (520_000, "$0.52"), (1_240_000_000, "$1,240")],
)
def test_unknown_money_is_not_zero(value, said):
    assert words.money(value) == said


def test_hidden_characters_are_shown_by_their_code_point():
    assert words.marked("a\u202eb\x1b[0m\n") == [
        ("a", False),
        ("U+202E", True),
        ("b", False),
        ("U+001B", True),
        ("[0m\n", False),
    ]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_state_has_a_glyph_and_a_word_of_its_own(machine):
    """CO-H2: unique within the machine, and each glyph is drawn."""
    looks = list(BADGES[machine.name].values())
    assert len(looks) == len(machine.states)
    assert len({look.word for look in looks}) == len(looks)
    assert len({look.glyph for look in looks}) == len(looks)
    assert all(look.glyph in GLYPHS for look in looks)


@pytest.mark.parametrize(
    ("name", "values"),
    [("pull", [*PullState]), ("round", RoundStatus.values), ("escalation", EscalationState.values)],
)
def test_every_fact_that_no_machine_owns_is_worded_too(name, values):
    assert set(BADGES[name]) == {str(value) for value in values}
    assert all(look.glyph in GLYPHS and look.word for group in BADGES.values() for look in group.values())


@pytest.mark.parametrize("machine", [CONVERGENCE_MACHINE, MERGE_MACHINE], ids=lambda machine: machine.name)
def test_every_edge_and_every_wait_has_its_sentence(machine):
    assert {edge.name for edge in machine.edges} <= set(EDGES)
    assert set(machine.states) <= set(PULL_REASONS)


def test_no_sentence_is_left_of_an_edge_that_is_gone():
    machines = (CONVERGENCE_MACHINE, MERGE_MACHINE)
    assert set(EDGES) <= {edge.name for machine in machines for edge in machine.edges}
    assert set(PULL_REASONS) <= {state for machine in machines for state in machine.states}


@pytest.mark.parametrize(
    ("actor", "said"),
    [
        ("operator:ops-1", "ops-1"),
        ("poller", "the poller"),
        ("flow:convergence:pull-request:1003:1", "the convergence flow"),
        ("flow", "the flow"),
        ("", "unknown"),
        ("gate", "gate"),
    ],
)
def test_who_did_it_is_named_as_people_would(actor, said):
    assert tags.actor(actor) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("everything is paused", "Everything is paused"),
        ("waits, for long", "Waits, for long"),
        ("acme/shop is paused", "acme/shop is paused"),
        ("pr-review@1 is paused", "pr-review@1 is paused"),
        ("lab.9f3c1a lacks a label", "lab.9f3c1a lacks a label"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_unless_a_name_begins_it(text, said):
    assert words.sentence_case(text) == said

"""Every combination of what a verdict is made of, against the rules in their own words."""

from dataclasses import replace
from itertools import product

import pytest

from merging.decisions.inputs import inputs_sentence, verdict_inputs
from merging.decisions.mergeability import Mergeability, classify_mergeability, failing_checks
from merging.decisions.protocol import DeclaredCheck, Protocol
from merging.facts import Verdict
from tests.unit.merging.test_mergeability import checks, facts, run, status

WORDS = ["CLEAN", "HAS_HOOKS", "UNSTABLE", "BEHIND", "DIRTY", "BLOCKED", "UNKNOWN", "", "DRAFT", "SOMETHING_NEW"]
GREEN = run("test", number=1)
STATES = {  # of the one check: its contexts, and how it stands
    "none": ((), "missing"),
    "green": ((GREEN,), "accepted"),
    "red": ((run("test", conclusion="FAILURE", number=2),), "failing"),
    "skipped": ((run("test", conclusion="SKIPPED", number=2),), "failing"),
    "running": ((run("test", "IN_PROGRESS", number=2),), "running"),
    "superseded": ((run("test", conclusion="CANCELLED", number=1), run("test", minute=2, number=2)), "accepted"),
    "two suites, one red": ((GREEN, run("test", conclusion="FAILURE", app=2, number=3)), "failing"),
    "two suites, one runs": ((GREEN, run("test", "QUEUED", app=2, number=3)), "running"),
    "status green": ((status("test"),), "accepted"),
    "status pending": ((status("test", "PENDING"),), "running"),
    "status red": ((status("test", "ERROR"),), "failing"),
}
GATE = {
    "failing": Mergeability(Verdict.BLOCKED, "checks_failing"),
    "running": Mergeability(Verdict.WAITING, "checks_pending"),
    "missing": Mergeability(Verdict.WAITING, "check_missing"),
}
DECLARED = Protocol(required_checks=(DeclaredCheck("test"),))
PLAIN = Protocol()


def required_as(contexts, required):
    return tuple(replace(each, required=required) for each in contexts)


def expected(word, state, *, draft, required, declared, admin):
    """The table in its own order."""
    contexts, stands = STATES[state]
    if draft:
        return Mergeability(Verdict.DRAFT, "draft")
    if declared and stands in GATE:
        return GATE[stands]
    if word in {"CLEAN", "HAS_HOOKS", "UNSTABLE", "BEHIND"}:
        return Mergeability(Verdict.READY)
    if word == "DIRTY":
        return Mergeability(Verdict.CONFLICT, "conflict")
    if word == "BLOCKED":
        rollup = checks(*contexts)
        if required is not False and rollup.failing:
            return Mergeability(Verdict.BLOCKED, "checks_failing")
        if required is not False and rollup.in_flight:
            return Mergeability(Verdict.WAITING, "checks_pending")
        return Mergeability(Verdict.READY, "admin") if admin else Mergeability(Verdict.WAITING, "branch_rules")
    unsettled = word in {"UNKNOWN", "", "DRAFT"}
    return Mergeability(Verdict.WAITING, "computing" if unsettled else "unclassified")


@pytest.mark.parametrize("word", WORDS)
def test_every_combination_is_classified_by_the_first_row_that_hits(word):
    """MG-H3: a red, missing or running declared check is never ready, whatever else is true."""
    combinations = product(STATES, (False, True), (True, None, False), (False, True), (False, True))
    for state, draft, required, declared, admin in combinations:
        review = "REVIEW_REQUIRED" if admin else ""
        seen = facts(word, *required_as(STATES[state][0], required), draft=draft, review_decision=review)
        found = classify_mergeability(seen, DECLARED if declared else PLAIN, admin=admin)
        wanted = expected(word, state, draft=draft, required=required, declared=declared, admin=admin)
        assert found == wanted, (word, state, draft, required, declared, admin)
        if declared and STATES[state][1] != "accepted":
            assert found.verdict is not Verdict.READY


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("admin", [False, True])
def test_without_a_valid_declaration_nothing_is_ready(word, admin):
    """MG-S28, MG-H3: a file that cannot be understood is not "no policy"."""
    found = classify_mergeability(facts(word, GREEN), None, admin=admin)
    assert found == Mergeability(Verdict.WAITING, "protocol_invalid")


@pytest.mark.parametrize("word", WORDS)
def test_more_than_a_hundred_checks_that_were_not_all_read_are_never_ready(word):
    many = [run(f"check-{number}", number=number + 1) for number in range(100)]
    seen = facts(word, checks=checks(*many, complete=False))
    assert classify_mergeability(seen, PLAIN, admin=True) == Mergeability(Verdict.WAITING, "unverifiable")


def test_more_than_a_hundred_checks_are_judged_whole():
    many = [run(f"check-{number}", number=number + 1) for number in range(250)]
    assert classify_mergeability(facts("CLEAN", *many), PLAIN, admin=False).verdict is Verdict.READY
    red = [*many, run("late", conclusion="FAILURE", number=999)]
    assert classify_mergeability(facts("BLOCKED", *red), PLAIN, admin=False).verdict is Verdict.BLOCKED


@pytest.mark.parametrize(
    ("accepted", "conclusion", "passes"),
    [({"success"}, "SKIPPED", False), ({"success", "skipped"}, "SKIPPED", True), ({"neutral"}, "SUCCESS", False)],
)
def test_a_declared_check_accepts_what_its_entry_says(accepted, conclusion, passes):
    protocol = Protocol(required_checks=(DeclaredCheck("test", frozenset(accepted)),))
    seen = facts("CLEAN", run("test", conclusion=conclusion))
    assert (classify_mergeability(seen, protocol, admin=False).verdict is Verdict.READY) is passes
    assert bool(failing_checks(seen.checks, protocol)) is not passes


@pytest.mark.parametrize(
    ("contexts", "found"),
    [
        ((run(),), Mergeability(Verdict.READY)),
        ((run("x", conclusion="FAILURE", required=False),), Mergeability(Verdict.BLOCKED, "checks_failing")),
        ((run("x", "QUEUED", required=False),), Mergeability(Verdict.WAITING, "checks_pending")),
    ],
)
def test_a_base_may_want_every_check_to_have_passed(contexts, found):
    protocol = Protocol(wait_for_checks=True)
    seen = facts("UNSTABLE", *contexts)
    assert classify_mergeability(seen, protocol, admin=True) == found
    assert [check.name for check in failing_checks(seen.checks, protocol)] == [
        each.name for each in contexts if each.conclusion == "FAILURE"
    ]


def test_a_verdict_says_what_it_was_made_of():
    seen = facts("CLEAN", GREEN, run("lint", number=2), run("docs", number=3))
    assert inputs_sentence(verdict_inputs(seen, PLAIN)) == "CLEAN, 3 of 3 required green at aaaaaaa"
    assert inputs_sentence(verdict_inputs(seen, DECLARED)).endswith("1 of 1 declared accepted at aaaaaaa")
    assert "not every check" in inputs_sentence(verdict_inputs(facts("", checks=checks(complete=False)), PLAIN))
    assert inputs_sentence(verdict_inputs(facts("", head=None), PLAIN)) == (
        "no merge state, no check is required, head not settled"
    )
    assert inputs_sentence({}) == ""

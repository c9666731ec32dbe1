"""The gate's table: each row hits, each waiver covers exactly its own thing, and the first hit wins."""

from dataclasses import replace

import pytest

from convergence.decisions.advisories import Advised
from convergence.decisions.gate import GATE_ROWS, GateFacts, gate_judge
from convergence.decisions.reviews import stale_cause
from convergence.guards import Gate
from tests.unit.convergence.test_decisions import ANN, BOT, HEAD, OLD, THREAD

PASSING = GateFacts(head=HEAD, reviews=(BOT,))
ASKING = replace(ANN, state="CHANGES_REQUESTED", counts_for=HEAD)
ACK = replace(THREAD, id="T2", is_ack=True)
NOTE = Advised("a" * 16, "app.py", 1, "Use a constant.", "copilot")


def waived(*targets, of=PASSING):
    return replace(of, waived=frozenset(targets))


@pytest.mark.parametrize(
    ("facts", "result", "for_good"),
    [
        (PASSING, Gate.OK, False),
        (replace(PASSING, unreadable="99 of 101 threads", for_good=True), Gate.UNREADABLE, True),
        (replace(PASSING, unreadable="not read"), Gate.UNREADABLE, False),
        (replace(PASSING, head=OLD), Gate.STALE, False),
        (replace(PASSING, head=OLD, requestable=False), Gate.OK, False),
        (replace(PASSING, head=None, reviews=()), Gate.OK, False),
        (replace(PASSING, threads=(THREAD,)), Gate.BLOCKED, False),
        (replace(PASSING, head=OLD, threads=(THREAD,)), Gate.STALE, False),
        (replace(PASSING, reviews=(BOT, ASKING)), Gate.BLOCKED, False),
        (replace(PASSING, reviews=(BOT, replace(ASKING, counts_for=OLD))), Gate.STALE, False),
        (replace(PASSING, reviews=(BOT, replace(ASKING, counts_for=""))), Gate.STALE, False),
        (replace(PASSING, reviews=(BOT, replace(ASKING, counts_for=OLD)), threads=(THREAD,)), Gate.BLOCKED, False),
        (replace(PASSING, reviews=(BOT, replace(ASKING, counts_for=OLD)), advisories=(NOTE,)), Gate.STALE, False),
        (replace(PASSING, reviews=(BOT, ASKING), unreadable="x"), Gate.UNREADABLE, False),
        (replace(PASSING, head=None, reviews=(ASKING,)), Gate.BLOCKED, False),
        (replace(PASSING, advisories=(NOTE,)), Gate.ACK_ONLY, False),
        (replace(PASSING, threads=(ACK,)), Gate.ACK_ONLY, False),
        (replace(PASSING, threads=(ACK, THREAD)), Gate.BLOCKED, False),
        (replace(PASSING, reviews=(BOT, ASKING), advisories=(NOTE,)), Gate.BLOCKED, False),
        (replace(PASSING, head=OLD, advisories=(NOTE,)), Gate.STALE, False),
        (replace(PASSING, head=OLD, requestable=False, advisories=(NOTE,)), Gate.ACK_ONLY, False),
    ],
)
def test_the_first_hit_of_the_gate_wins(facts, result, for_good):
    """CV-H10, CV-H12: unreadable is never ok, and a head without a review passes only when nobody can be asked."""
    verdict = gate_judge(facts)
    assert (verdict.result, verdict.for_good) == (result, for_good)
    assert verdict.reason


@pytest.mark.parametrize(
    ("facts", "target"),
    [
        (replace(PASSING, head=OLD), ("head", "")),
        (replace(PASSING, threads=(THREAD,)), ("thread", THREAD.id)),
        (replace(PASSING, threads=(ACK,)), ("thread", ACK.id)),
        (replace(PASSING, reviews=(BOT, ASKING)), ("review", ASKING.forge_id)),
        (replace(PASSING, reviews=(BOT, replace(ASKING, counts_for=OLD))), ("review", ASKING.forge_id)),
        (replace(PASSING, advisories=(NOTE,)), ("advisory", NOTE.id)),
    ],
)
def test_a_waiver_covers_exactly_what_it_names(facts, target):
    """CV-S29, CV-H12."""
    assert gate_judge(facts).result is not Gate.OK
    assert gate_judge(waived(target, of=facts)).result is Gate.OK
    kind, name = target
    for other in ((kind, f"{name}x"), ("other", name)):
        assert gate_judge(waived(other, of=facts)).result is not Gate.OK


def test_what_is_unreadable_is_waived_by_nothing():
    everything = [("head", ""), ("thread", THREAD.id), ("advisory", NOTE.id)]
    assert gate_judge(replace(waived(*everything), unreadable="not read")).result is Gate.UNREADABLE


def test_the_verdict_names_what_is_left_and_nothing_that_was_let_pass():
    facts = replace(PASSING, threads=(THREAD, replace(THREAD, id="T9")), reviews=(BOT, ASKING))
    assert gate_judge(waived(("thread", "T9"), of=facts)).left == {"threads": ["T1"], "reviews": ["2"]}
    paper = replace(PASSING, threads=(ACK,), advisories=(NOTE,))
    verdict = gate_judge(paper)
    assert verdict.left == {"advisories": [NOTE.id], "ackThreads": ["T2"]}
    assert verdict.reason == "1 suppressed comment and 1 open acknowledgement"


def test_gate_and_wait_agree_on_what_is_stale():
    assert stale_cause((BOT,), OLD) == "unreviewed"
    assert stale_cause((BOT,), OLD, frozenset({("head", "")})) == ""
    assert stale_cause((BOT,), HEAD) == ""
    before = (BOT, replace(ASKING, counts_for=OLD))
    assert stale_cause(before, HEAD) == "changes_requested_before"
    assert stale_cause(before, HEAD, frozenset({("review", ASKING.forge_id)})) == ""
    assert stale_cause((), None) == ""


def test_the_rows_stand_in_the_order_of_the_rules():
    assert [(row.name, row.result) for row in GATE_ROWS] == [
        ("unreadable", "unreadable"),
        ("head_unreviewed", "stale"),
        ("open_threads", "blocked"),
        ("changes_requested", "blocked"),
        ("changes_requested_before", "stale"),
        ("unacknowledged", "ack_only"),
    ]

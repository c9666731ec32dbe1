"""How findings stand against the entry before, and what that says about the rounds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.decisions.churn import Entry, Recurring, churn_of
from convergence.decisions.findings import Found, Trend, findings_moved

A = Found("thread", "T1", "f1")
B = Found("thread", "T2", "f1")  # the same point, raised in another thread
C = Found("thread", "T3", "f2")
NOTE = Found("advisory", "f9", "f9")


def closed(found, how="fixed"):
    return replace(found, closed_as=how)


@pytest.mark.parametrize(
    ("before", "now", "trends"),
    [
        ((), (A,), {"T1": "new"}),
        ((), (closed(A),), {}),
        ((A,), (A,), {"T1": "repeat"}),
        ((A,), (A, C), {"T1": "repeat", "T3": "new"}),
        ((A,), (closed(A),), {"T1": "gone"}),
        ((A,), (), {"T1": "gone"}),
        ((closed(A),), (closed(A),), {}),
        ((closed(A),), (), {}),
        ((closed(A),), (A,), {"T1": "reopened"}),
        ((closed(A, "vanished"),), (A,), {"T1": "reopened"}),
        ((closed(A, "declined"),), (A,), {"T1": "repeat"}),
        ((A,), (A, B), {"T1": "repeat", "T2": "repeat"}),
        ((), (A, B), {"T1": "new", "T2": "repeat"}),
        ((A,), (closed(A), B), {"T1": "gone", "T2": "reopened"}),
        ((A,), (closed(A, "declined"), B), {"T1": "gone", "T2": "repeat"}),
        ((closed(A),), (closed(A), B), {"T2": "reopened"}),
        ((closed(A, "declined"),), (closed(A, "declined"), B), {"T2": "repeat"}),
        ((NOTE,), (closed(NOTE),), {"f9": "gone"}),
        ((closed(NOTE),), (closed(NOTE),), {}),
    ],
)
def test_a_finding_has_one_trend_or_none(before, now, trends):
    """CV-S37: a point that comes back in another thread was reopened, unless it was declined."""
    assert {moved.found.forge_id: moved.trend for moved in findings_moved(before, now)} == trends


@pytest.mark.parametrize(
    ("now", "how"), [((closed(A),), "fixed"), ((closed(A, "declined"),), "declined"), ((), "vanished")]
)
def test_what_is_gone_says_how(now, how):
    [moved] = findings_moved((A,), now)
    assert (moved.trend, moved.how, moved.found.closed_as) == (Trend.GONE, how, how)


FINDINGS = st.lists(
    st.builds(
        Found,
        kind=st.just("thread"),
        forge_id=st.sampled_from("abcdef"),
        fingerprint=st.sampled_from(["x", "y"]),
        closed_as=st.sampled_from(["", "fixed", "declined"]),
    ),
    unique_by=lambda found: found.forge_id,
    max_size=6,
)


@given(before=FINDINGS, now=FINDINGS)
def test_every_open_finding_is_told_and_none_twice(before, now):
    moved = findings_moved(before, now)
    keys = [each.found.key for each in moved]
    assert len(keys) == len(set(keys))
    assert {found.key for found in now if found.is_open} == {
        each.found.key for each in moved if each.trend is not Trend.GONE
    }


def entries(*counts):
    return [Entry(number, count) for number, count in enumerate(counts, start=1)]


@pytest.mark.parametrize(
    ("counts", "rounds", "told", "reason"),
    [
        ((3, 3, 3, 3, 3), 4, 0, "stagnation"),
        ((3, 3, 3, 3), 4, 0, None),
        ((3, 3, 3, 3, 2), 4, 0, None),
        ((3, 3, 4, 4, 5), 4, 0, "stagnation"),
        ((9, 1, 1, 1, 1, 1), 4, 0, "stagnation"),
        ((3, 0, 3, 3, 3), 4, 0, None),
        ((0, 0, 0, 0, 0), 4, 0, None),
        ((3, 3), 1, 0, "stagnation"),
        ((3, 3, 3, 3, 3), 0, 0, None),
        ((3, 3, 3, 3, 3), 4, 5, None),
        ((3,) * 8, 4, 5, None),
        ((3,) * 9, 4, 5, "stagnation"),
        ((), 4, 0, None),
    ],
)
def test_rounds_stagnate_when_the_open_findings_do_not_get_fewer(counts, rounds, told, reason):
    """CV-S38: told again only after as many rounds more."""
    churn = churn_of(entries(*counts), (), rounds=rounds, told_round=told)
    assert (churn.reason if churn else None) == reason


@pytest.mark.parametrize(
    ("reopened", "told", "reason"), [(1, 0, None), (2, 0, "ping_pong"), (2, 2, None), (3, 2, "ping_pong")]
)
def test_a_point_that_keeps_coming_back_is_told_at_each_return_from_the_second(reopened, told, reason):
    """CV-S37."""
    churn = churn_of(entries(1, 0, 1), [Recurring("f1", reopened, told)], rounds=4, told_round=2)
    assert (churn.reason if churn else None) == reason
    assert churn is None or churn.point == Recurring("f1", reopened, told)

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.forge.checks import check_rollup
from convergence.forge.facts import Listing
from merging.decisions.timing import checks_run, next_look, retry_pause, stall_clock
from merging.flow import MergeState
from tests.unit.merging.test_mergeability import run

T0 = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
POLL = timedelta(seconds=60)
HOUR = timedelta(hours=1)


def seconds_to_next(state, *, reason="", looks=0, after=0):
    now = T0 + timedelta(seconds=after)
    due = next_look(state=state, reason=reason, looks=looks, entered_at=T0, now=now, poll=POLL)
    return (due - now).total_seconds()


def test_rests_after_counted_retries():
    assert [retry_pause(n).total_seconds() for n in range(1, 8)] == [5, 10, 20, 40, 60, 60, 60]


def test_first_looks_come_at_once_and_after_a_second():
    assert [seconds_to_next(MergeState.WAITING_MERGE, looks=n) for n in range(3)] == [1, 60, 60]


def test_an_unsettled_mergeability_is_looked_at_soon_and_then_at_the_poll():
    looks = [seconds_to_next(MergeState.WAITING_MERGE, reason="computing", looks=n) for n in range(6)]
    assert looks == [1, 2, 4, 5, 60, 60]


def test_the_landing_is_looked_at_after_5_15_30_and_60_seconds():
    instants, after = [], 0
    for _ in range(6):
        after += seconds_to_next(MergeState.VERIFYING_LANDING, after=after)
        instants.append(after)
    assert instants == [5, 15, 30, 60, 120, 180]


def test_the_stall_clock_begins_anew_with_every_change():
    now = T0 + HOUR
    assert stall_clock(since=T0, last_look_at=T0, changed=True, still=False, now=now) == now


@given(steps=st.lists(st.tuples(st.integers(0, 600), st.booleans()), max_size=20))
def test_the_stall_clock_counts_exactly_the_time_that_it_does_not_stand_still(steps):
    since = now = T0
    counted = timedelta()
    for pause, still in steps:
        last, now = now, now + timedelta(seconds=pause)
        since = stall_clock(since=since, last_look_at=last, changed=False, still=still, now=now)
        counted += timedelta() if still else now - last
        assert now - since == counted


@pytest.mark.parametrize(("minutes", "running"), [(0, True), (119, True), (360, False)])
def test_a_long_suite_is_no_stall_and_a_check_that_hangs_is(minutes, running):
    """MG-S8: a suite of two hours stops the stall clock, a check older than the limit does not."""
    listing = Listing(items=(run(status="IN_PROGRESS"),), complete=True, total=1)
    checks = check_rollup(listing).in_flight
    now = T0 + timedelta(minutes=minutes)
    assert checks_run(checks, entered_at=now, limit=6 * HOUR, now=now) is running


def test_without_a_check_in_flight_the_clock_runs():
    assert not checks_run((), entered_at=T0, limit=6 * HOUR, now=T0)

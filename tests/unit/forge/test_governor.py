"""Levels, forecasts, the pace of writes, and who still passes when little is left. Nothing is sent here."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.forge.governor import account as accounts
from convergence.forge.governor.account import Account, Told
from convergence.forge.governor.book import MemoryBook
from convergence.forge.governor.governor import Ask, Governor
from convergence.forge.governor.in_flight import InFlight
from convergence.forge.governor.levels import forecast, level_of, sampled
from convergence.forge.governor.pace import HOUR, MINUTE, Pace, kept, next_write
from convergence.forge.governor.purposes import POLL_FACTORS, Level, Purpose
from runs.contract.errors import NotFound, Transient
from tests.unit.forge.stub import Clock

NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
HOURLY = 5000


@pytest.mark.parametrize(
    ("remaining", "needed", "before", "level"),
    [
        (2500, 9000, Level.NORMAL, Level.NORMAL),
        (2499, 2499, Level.NORMAL, Level.NORMAL),
        (2499, 2500, Level.NORMAL, Level.SLOW),
        (1000, 9000, Level.NORMAL, Level.SLOW),
        (999, 0, Level.NORMAL, Level.RESERVE),
        (250, 0, Level.NORMAL, Level.RESERVE),
        (249, 0, Level.NORMAL, Level.INTERACTIVE),
        (0, 0, Level.NORMAL, Level.INTERACTIVE),
        (1249, 0, Level.RESERVE, Level.RESERVE),  # a level is left only 5 % above its border
        (1250, 0, Level.RESERVE, Level.NORMAL),
        (499, 0, Level.INTERACTIVE, Level.INTERACTIVE),
        (500, 0, Level.INTERACTIVE, Level.RESERVE),
        (2749, 9000, Level.SLOW, Level.SLOW),
        (2750, 9000, Level.SLOW, Level.NORMAL),
    ],
)
def test_the_level_of_a_budget(remaining, needed, before, level):
    assert level_of(limit=HOURLY, remaining=remaining, needed=needed, reserve=0.2, before=before) is level


def test_the_forecast_goes_on_as_in_the_last_ten_minutes():
    samples: tuple[tuple[float, int], ...] = ()
    for minute in range(31):
        samples = sampled(samples, used=minute * 20, now=NOW + timedelta(minutes=minute))
    at = NOW + timedelta(minutes=30)
    assert forecast(samples, used=600, now=at, reset_at=at + timedelta(minutes=30)) == pytest.approx(600)
    assert len(samples) <= 12
    assert sampled(samples, used=5, now=at) == ((at.timestamp(), 5),), "after a reset it begins anew"


@given(st.lists(st.floats(0, 7200), max_size=700))
def test_no_minute_and_no_hour_holds_more_writes_than_the_pace(wanted):
    pace = Pace(per_minute=60, per_hour=400)
    stamps: tuple[float, ...] = ()
    all_of_them: list[float] = []
    for at in sorted(wanted):
        stamps = kept(stamps, at)
        if next_write(stamps, pace) <= at:
            stamps = (*stamps, at)
            all_of_them.append(at)
    for begin in all_of_them:
        assert sum(begin <= at < begin + MINUTE for at in all_of_them) <= 60
        assert sum(begin <= at < begin + HOUR for at in all_of_them) <= 400
    assert all(earlier + 1 <= later for earlier, later in pairwise(all_of_them))  # as a sum: a difference is rounded


def governor(clock, **known):
    book = MemoryBook()
    book.change("cred", "graphql", lambda account: replace(account, **known))
    return Governor(book, now=clock.now)


def passes(held, purpose, *, resource="graphql", creates=False):
    try:
        with held.admitted(Ask("cred", resource, purpose, creates)):
            return True
    except Transient:
        return False


SERVED = {
    Level.NORMAL: set(Purpose),
    Level.SLOW: set(Purpose),
    Level.RESERVE: set(Purpose) - {Purpose.ROUND},
    Level.INTERACTIVE: {Purpose.PERSON, Purpose.MERGE},
}


@pytest.mark.parametrize("level", SERVED)
def test_the_scarcer_the_budget_the_fewer_purposes_pass_and_people_always_do(level):
    """GH-H17: what polling has used up stops polling, not the people."""
    clock = Clock()
    held = governor(clock, limit=HOURLY, remaining=1, reset_at=clock.at + timedelta(minutes=20), level=level)
    assert {purpose for purpose in Purpose if passes(held, purpose)} == SERVED[level]
    assert held.poll_factor("cred") == POLL_FACTORS[level]
    clock.at += timedelta(minutes=20)
    assert all(passes(held, purpose) for purpose in Purpose), "a budget whose reset has passed is full again"
    assert held.poll_factor("cred") == 1


def test_an_answer_moves_the_level_and_a_reset_lifts_it():
    account, reset = Account(), NOW + timedelta(minutes=30)
    told = [(4000, 0), (900, 60), (880, 120), (700, 180), (100, 240)]
    levels = []
    for remaining, seconds in told:
        account = accounts.told(account, Told(HOURLY, remaining, reset), NOW + timedelta(seconds=seconds), 0.2)
        levels.append(account.level)
    assert levels == [Level.NORMAL, Level.RESERVE, Level.RESERVE, Level.RESERVE, Level.INTERACTIVE]
    same = accounts.told(account, Told(HOURLY, 99, reset), NOW + timedelta(seconds=300), 0.2)
    assert same is account, "what hardly differs is not written"
    fresh = accounts.told(account, Told(HOURLY, 4990, reset + timedelta(hours=1)), reset, 0.2)
    assert fresh.level is Level.NORMAL


def test_while_the_forge_is_away_one_of_the_patient_asks_for_all():
    clock = Clock()
    held = governor(clock)
    ask = Ask("cred", "graphql", Purpose.POLL)
    sent = 0
    for _ in range(3600):
        if passes(held, Purpose.POLL):
            sent += 1
            held.failed(ask)
        clock.at += timedelta(seconds=1)
    assert 55 <= sent <= 65
    assert passes(held, Purpose.PERSON)
    assert passes(held, Purpose.WRITE)
    held.answered(ask, None)
    assert passes(held, Purpose.POLL)
    assert passes(held, Purpose.POLL)


def test_writes_that_must_wait_are_given_instants_a_second_apart():
    clock = Clock()
    held = governor(clock)
    assert passes(held, Purpose.WRITE, resource="core", creates=True)
    waits = []
    for _ in range(3):
        with pytest.raises(Transient) as raised, held.admitted(Ask("cred", "core", Purpose.WRITE, creates=True)):
            pass
        waits.append(round(raised.value.retry_after))
    assert waits == [1, 2, 3]
    assert passes(held, Purpose.WRITE, resource="core"), "what creates nothing does not wait"


def test_a_write_that_was_refused_gives_its_place_back():
    held = governor(Clock())
    for _ in range(3):
        with pytest.raises(NotFound), held.admitted(Ask("cred", "core", Purpose.WRITE, creates=True)):
            raise NotFound("forge_not_found", "no such thread")


def test_connections_are_kept_for_people_when_all_others_hang():
    places = InFlight(4)
    with places.place(Purpose.POLL), places.place(Purpose.GATE):
        assert not places._fits(Purpose.POLL)
        with places.place(Purpose.WRITE):
            assert not places._fits(Purpose.WRITE)
            assert places._fits(Purpose.PERSON)
            with places.place(Purpose.PERSON):
                assert not places._fits(Purpose.PERSON)
    assert all(places._fits(purpose) for purpose in Purpose)
    single = InFlight(1)
    assert all(single._fits(purpose) for purpose in Purpose)


def test_batches_wait_when_queries_keep_the_forge_busy():
    at = [0.0]
    places = InFlight(4, monotonic=lambda: at[0])
    places.took(25)
    assert places.pause() == 0
    at[0] = 10
    places.took(20)
    assert places.pause() == 50, "until the first of them is a minute old"
    at[0] = 60
    assert places.pause() == 0

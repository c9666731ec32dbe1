"""Waiting without a connection: who is woken, by what, and who is not."""

import threading
import time
from functools import partial

import pytest
from django.db import connection, connections

from runs.contract.placement import Offer
from runs.queue import wakeup
from runs.queue.cancel import run_cancel
from runs.queue.changes import ticks
from runs.queue.wait_end import WaitEnd
from runs.queue.wakeup import Watcher
from tests.queue_driver import OFFER, claim, enqueue
from tests.threads import together

PATIENCE = 20.0  # seconds; a wake-up takes milliseconds, a missing one is what the test is about
OTHER = Offer(adapters=frozenset({"command"}), workspace_kinds=frozenset({"ephemeral"}))


@pytest.fixture
def watcher():
    """A watcher whose fallback cannot be what wakes anybody in this test, and which has ended with it."""
    own = Watcher(partial(ticks, fallback_seconds=3600.0))
    yield own
    until(lambda: own._thread is None, "the watcher ends with its last waiter")


def until(fact, what):
    ends = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < ends, f"never happened: {what}"
        time.sleep(0.005)


def when_held(watcher, count, act):
    until(lambda: watcher.held_count() >= count, f"{count} requests wait")
    until(lambda: watcher.looks > 0, "the watcher has looked at least once")
    return act()


def test_an_enqueue_wakes_one_waiter_of_the_fitting_offer_and_no_other(watcher):
    woken = []
    stop = WaitEnd()

    def wait(offer, number):
        if watcher.wait_for_claim(offer, "lab", PATIENCE, stop):
            woken.append(number)

    def come():
        when_held(watcher, 4, enqueue)
        until(lambda: woken, "somebody was woken")
        looks = watcher.looks
        stop.set()
        return looks

    together([partial(wait, OFFER, 1), partial(wait, OFFER, 2), partial(wait, OTHER, 3), partial(wait, OTHER, 4), come])
    assert len(woken) >= 1
    assert set(woken) <= {1, 2}


def test_the_longest_waiting_is_woken_first(watcher, monkeypatch):
    order = []
    asleep = []  # whoever has registered looks once more by itself, and may find the run before the watcher does
    held = wakeup._held

    def falls_asleep(*waiting):
        asleep.append(waiting)
        return held(*waiting)

    monkeypatch.setattr(wakeup, "_held", falls_asleep)

    def wait(number):
        if watcher.wait_for_claim(OFFER, "lab", PATIENCE):
            order.append(number)
            claim()

    def follow():
        wait(2)
        connections.close_all()

    def come():
        when_held(watcher, 1, lambda: None)
        second = threading.Thread(target=follow)
        second.start()
        until(lambda: len(asleep) == 2, "both are asleep")
        enqueue()
        until(lambda: order, "the first was woken")
        until(lambda: watcher.held_count() == 1, "the first has left")
        enqueue()
        second.join(PATIENCE)

    together([partial(wait, 1), come])
    assert order == [1, 2]


def test_a_run_that_came_before_the_wait_began_is_seen(watcher):
    enqueue()
    assert watcher.wait_for_claim(OFFER, "lab", PATIENCE)


def test_a_wait_ends_when_its_time_is_over(watcher):
    assert not watcher.wait_for_claim(OFFER, "lab", 0.05)
    assert watcher.held_count() == 0


def test_a_cancel_wakes_the_held_heartbeat_of_its_attempt_alone(watcher):
    run, other = enqueue(), enqueue()
    attempt, bystander = claim(), claim()
    stop = WaitEnd()

    def come():
        when_held(watcher, 2, partial(run_cancel, run=run, code="operator_cancel", actor="operator:ann"))
        until(lambda: watcher.held_count() == 1, "the heartbeat of the cancelled run was answered")
        stop.set()

    woken, left, _ = together(
        [
            partial(watcher.wait_for_control, attempt.pk, 0, PATIENCE, stop),
            partial(watcher.wait_for_control, bystander.pk, 0, PATIENCE, stop),
            come,
        ]
    )
    assert (woken, left) == (True, False)
    assert other.run_id == bystander.run.run_id


def test_a_waiting_request_holds_no_database_connection(watcher):
    """WP-H8"""
    open_while_waiting = []

    def held():
        stop = WaitEnd()
        mine = connection

        def look():
            when_held(watcher, 1, lambda: None)
            until(lambda: mine.connection is None, "the waiting thread gave its connection back")
            open_while_waiting.append(mine.connection is not None)
            stop.set()

        looker = threading.Thread(target=look)
        looker.start()
        watcher.wait_for_claim(OFFER, "lab", PATIENCE, stop)
        looker.join(PATIENCE)

    together([held])
    assert open_while_waiting == [False]


def test_a_lost_wake_up_costs_the_fallback_and_no_run():
    """The channel says nothing here; the probe of its own accord finds the run."""
    own = Watcher(lambda: ticks(fallback_seconds=0.2, source=deaf()))

    def come():
        when_held(own, 1, enqueue)

    assert together([partial(own.wait_for_claim, OFFER, "lab", PATIENCE), come])[0]
    until(lambda: own._thread is None, "the watcher ends with its last waiter")


def deaf():
    while True:
        yield False
        time.sleep(0.01)

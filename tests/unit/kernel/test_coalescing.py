"""Nudges in a burst."""

import threading

from factory_site.coalescing import Coalesced


def test_a_burst_is_one_start_at_once_and_one_at_the_end():
    started = []
    twice = threading.Event()

    def start(name):
        started.append(name)
        if started.count("outbox") == 2:
            twice.set()

    coalesced = Coalesced(start, window=0.2)
    for _ in range(50):
        coalesced("outbox")
    coalesced("flows")
    assert started == ["outbox", "flows"]
    assert twice.wait(20)
    assert started == ["outbox", "flows", "outbox"]


def test_a_start_after_a_quiet_window_is_made_at_once():
    started: list[str] = []
    coalesced = Coalesced(started.append, window=0.0)
    for _ in range(3):
        coalesced("outbox")
    assert started == ["outbox"] * 3

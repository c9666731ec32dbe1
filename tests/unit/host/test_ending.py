"""How often the processes of a machine are looked at before an attempt counts as ended."""

import os
import subprocess

import pytest

from workers.host.process import ending
from workers.host.process.ending import MARKER_NAME, Quarry, end_processes
from workers.host.process.identity import ProcessId, identify, is_alive

STRAY = ProcessId(4_000_000, "boot:1")


@pytest.fixture
def looks(monkeypatch):
    """What each look finds, and the pauses; killed processes are gone at the next look."""
    seen = []

    def look(found=()):
        finds = list(found)

        def hunt(*_):
            seen.append("look")
            return finds.pop(0) if finds else []

        monkeypatch.setattr(ending, "_hunt", hunt)
        monkeypatch.setattr(ending, "send_signal", lambda process, _: seen.append(f"kill {process.pid}"))
        monkeypatch.setattr("time.sleep", seen.append)
        return seen

    return look


def test_two_looks_a_moment_apart_find_nothing(looks):
    seen = looks()
    end_processes(Quarry(attempt="a"), grace=10)
    assert seen == ["look", 0.1, "look"]


def test_one_look_is_enough_where_nothing_can_fork_any_more(looks):
    seen = looks()
    end_processes(Quarry(attempt="a"), grace=10, childless=True)
    assert seen == ["look"]


@pytest.mark.parametrize("childless", [True, False])
def test_after_a_find_two_looks_have_to_find_nothing(looks, childless):
    """AD-H8"""
    seen = looks([[STRAY], [STRAY], [], [STRAY]])
    end_processes(Quarry(attempt="a"), grace=0, childless=childless)
    kill = [f"kill {STRAY.pid}", 0.02, "look"]
    assert seen == ["look", *kill, *kill, 0.1, "look", *kill, 0.1, "look"]


@pytest.fixture
def sleeper():
    """Starts processes that do nothing, in sessions of their own; all are gone with the test."""
    started = []

    def start(**environment):
        process = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **environment},
                                   start_new_session=True)  # fmt: skip
        started.append(process)
        return identify(process.pid)

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_stray_with_the_marker_is_ended_wherever_it_is_and_what_is_older_is_left_alone(sleeper):
    """AD-H8"""
    marker = {MARKER_NAME: f"run_{os.getpid()}-a1"}
    older = sleeper(**marker)
    other = sleeper()
    while True:
        leader = sleeper()
        if leader.start != older.start:
            break
    stray = sleeper(**marker)
    end_processes(Quarry(attempt=marker[MARKER_NAME], leader=leader), grace=0)
    assert [is_alive(each) for each in (older, other, leader, stray)] == [True, True, True, False]

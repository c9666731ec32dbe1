"""The pause after crashes, how long something has held, and when a silent worker is replaced."""

import signal
from datetime import UTC, datetime

import pytest

from workers.host.pool.hung import Hung
from workers.host.pool.report import Counts, WorkerSaid
from workers.host.pool.run_folder import Slot
from workers.host.pool.timers import CrashBackoff, Since
from workers.host.process.identity import ProcessId


def test_a_crash_loop_pauses_twice_as_long_each_time_up_to_a_minute():
    """PO-H9: never more than one spawn in a pause."""
    crashes, now, pauses = CrashBackoff(), 1000.0, []
    for _ in range(9):
        assert crashes.ended(1, lived=0.2, now=now, line="work: no")
        pauses.append(crashes.pause)
        assert crashes.runs(now + crashes.pause - 0.01)
        now += crashes.pause
        assert not crashes.runs(now)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert (crashes.in_a_row, crashes.last_line) == (9, "work: no")


@pytest.mark.parametrize(("code", "lived"), [(0, 0.1), (75, 0.1), (130, 0.1), (1, 30.0), (-9, 600.0)])
def test_what_is_no_crash_at_the_start_pauses_nothing(code, lived):
    """PO-H9: exit 0, 75 and 130 never start the pause, nor does the end of a worker that had worked."""
    crashes = CrashBackoff()
    assert not crashes.ended(code, lived=lived, now=10.0, line="")
    assert not crashes.runs(10.0)


def test_only_a_worker_that_settled_after_the_crash_ends_the_row():
    crashes = CrashBackoff()
    crashes.ended(1, lived=1.0, now=1000.0, line="work: no")
    crashes.living(5000.0, now=1001.0)  # an old one of the same pool proves nothing about starts of now
    crashes.living(59.0, now=1060.0)
    assert crashes.in_a_row == 1
    crashes.living(60.0, now=1061.0)
    assert (crashes.in_a_row, crashes.pause, crashes.last_line) == (0, 0.0, "")


def test_a_break_starts_the_count_anew():
    """PO-S3: a run in second 30 of the surplus drains nobody in second 60."""
    surplus = Since()
    assert surplus.seconds(100.0, holds=True) == 0
    assert surplus.seconds(130.0, holds=True) == 30
    assert surplus.seconds(130.5, holds=False) == 0
    assert surplus.seconds(131.0, holds=True) == 0
    assert surplus.seconds(160.0, holds=True) == 29
    assert surplus.seconds(191.0, holds=True) == 60


SLOT = Slot(2, ProcessId(4711, "boot:1"), datetime(2026, 8, 30, tzinfo=UTC), draining=False, worker_id="lab.x")


def counts(*, lost=True, holds=False, liveness=90.0):
    said = {"lab.x": WorkerSaid("lost" if lost else "busy", None, lost, holds)}
    return Counts(claimable=0, idle=0, busy=0, min=1, max=3, next_seconds=2, liveness=liveness, workers=said)


def test_a_silent_worker_is_told_to_end_after_two_minutes_and_killed_half_a_minute_later():
    hung = Hung()
    assert hung.due([SLOT], counts(), 1000.0) is None
    assert hung.due([SLOT], counts(), 1119.9) is None
    told = hung.due([SLOT], counts(), 1120.0)
    assert told is not None
    assert (told.slot, told.number) == (SLOT, signal.SIGTERM)
    assert hung.due([SLOT], counts(), 1149.9) is None
    killed = hung.due([SLOT], counts(), 1150.0)
    assert killed is not None
    assert killed.number == signal.SIGKILL


@pytest.mark.parametrize("between", [counts(lost=False), counts(holds=True)])
def test_a_worker_that_speaks_or_still_holds_its_attempt_is_left_alone(between):
    hung = Hung()
    hung.due([SLOT], counts(), 1000.0)
    assert hung.due([SLOT], between, 1100.0) is None
    assert hung.due([SLOT], counts(), 1120.0) is None


def test_nobody_is_replaced_while_the_counts_are_unknown():
    hung = Hung()
    hung.due([SLOT], counts(), 1000.0)
    assert hung.due([SLOT], None, 2000.0) is None
    assert hung.due([SLOT], counts(), 2000.0) is not None


def test_the_times_go_with_the_liveness():
    hung = Hung()
    hung.due([SLOT], counts(liveness=3.0), 1000.0)
    assert hung.due([SLOT], counts(liveness=3.0), 1003.9) is None
    assert hung.due([SLOT], counts(liveness=3.0), 1004.0) is not None

import threading
from datetime import timedelta

import pytest

from runs import periodic
from runs.clock import now
from runs.models import PeriodicTask

pytestmark = pytest.mark.django_db


@pytest.fixture
def ran(monkeypatch):
    monkeypatch.setattr(periodic, "_passes", {})
    starts = []
    periodic.register_pass("good", seconds=10, body=lambda: starts.append("good"))

    def fail():
        starts.append("bad")
        raise RuntimeError("disk full")

    periodic.register_pass("bad", seconds=10, body=fail)
    periodic.periodic_sync()
    return starts


def test_a_due_pass_runs_once_and_is_due_again_after_its_interval(ran):
    assert periodic.periodic_run("good") is True
    assert periodic.periodic_run("good") is False
    assert ran == ["good"]
    row = PeriodicTask.objects.get(name="good")
    assert timedelta(seconds=8) < row.due_at - now() < timedelta(seconds=11)
    assert row.ended_at is not None


@pytest.mark.usefixtures("ran")
def test_a_pass_tells_since_when_its_starts_follow_each_other_whoever_made_them():
    def resumed_after(seconds):
        at = now()
        PeriodicTask.objects.filter(name="good").update(due_at=at, started_at=at - timedelta(seconds=seconds))
        assert periodic.periodic_run("good")
        return periodic.periodic_resumed_at("good")

    assert periodic.periodic_resumed_at("good") is None
    periodic.periodic_run("good")
    first = periodic.periodic_resumed_at("good")
    assert first is not None
    assert resumed_after(29) == first
    assert resumed_after(31) > first
    periodic.register_pass("good", seconds=40, body=lambda: None)
    second = periodic.periodic_resumed_at("good")
    assert resumed_after(41) == second, "a pass that is due less often has not paused"


@pytest.mark.usefixtures("ran")
def test_a_pass_that_raises_says_so_on_its_row_and_is_due_again():
    assert periodic.periodic_run("bad") is True
    row = PeriodicTask.objects.get(name="bad")
    assert "disk full" in row.error
    assert row.due_at > now()
    PeriodicTask.objects.update(due_at=now())
    assert periodic.periodic_run("bad") is True


@pytest.mark.usefixtures("ran")
def test_two_consumers_that_saw_the_same_due_date_start_a_pass_once():
    """RU-H16: of two starts that saw one due date, one moves it."""
    row = PeriodicTask.objects.get(name="good")
    moved = [
        PeriodicTask.objects.filter(pk=row.pk, due_at=row.due_at).update(due_at=now() + timedelta(seconds=10))
        for _ in range(2)
    ]
    assert moved == [1, 0]
    assert periodic.periodic_run("good") is False


def test_a_nudged_pass_runs_at_once_and_keeps_its_schedule(ran):
    periodic.periodic_run("good")
    before = PeriodicTask.objects.get(name="good").due_at
    periodic.periodic_nudged("good")
    assert ran == ["good", "good"]
    assert PeriodicTask.objects.get(name="good").due_at == before


@pytest.mark.usefixtures("ran")
def test_overdue_passes_are_found_and_rows_of_unknown_passes_go():
    PeriodicTask.objects.create(name="gone", interval_seconds=1, due_at=now())
    periodic.periodic_sync()
    assert set(periodic.periodic_due()) == {"good", "bad"}
    assert not PeriodicTask.objects.filter(name="gone").exists()


def test_nudges_during_a_run_cost_one_more_run_and_no_second_thread(ran):
    """Whatever was committed while a pass ran is seen by the run that follows it."""
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        ran.append("slow")
        begun.set()
        assert go_on.wait(30)

    periodic.register_pass("slow", seconds=10, body=slow)
    first = threading.Thread(target=periodic.periodic_nudged, args=("slow",))
    first.start()
    assert begun.wait(30)
    for _ in range(5):
        periodic.periodic_nudged("slow")  # returns at once: nothing here waits for `go_on`
    assert ran == ["slow"]
    go_on.set()
    first.join(30)
    assert ran == ["slow", "slow"]

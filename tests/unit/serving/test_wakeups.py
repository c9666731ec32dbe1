"""The queue of wake-ups: cheap to write to, because whoever commits work waits for it."""

from factory_site.beat import beat, huey

NORMAL = 1  # synced at checkpoints alone; FULL, at each commit, is 2


def test_a_wake_up_waits_for_no_disk_and_its_file_stays_whole():
    assert huey.storage.sql("PRAGMA synchronous", results=True) == [(NORMAL,)]
    assert huey.storage.sql("PRAGMA journal_mode", results=True) == [("wal",)]


def test_a_wake_up_is_taken_as_it_was_given():
    huey.enqueue(beat.s("outbox"))
    taken = huey.dequeue()
    assert (taken.name, taken.args) == ("beat", ("outbox",))
    assert huey.dequeue() is None

"""The fair lock of write transactions, and the grace of the reaper."""

import threading
from datetime import UTC, datetime, timedelta

from runs.queue.attempts.reaper import Grace
from runs.turns import FairLock

AT = datetime(2026, 8, 30, 12, tzinfo=UTC)
LIVENESS = timedelta(seconds=90)


def test_the_lock_is_handed_over_in_the_order_of_arrival():
    lock = FairLock()
    lock.acquire()
    order: list[int] = []

    def take(number):
        lock.acquire()
        order.append(number)
        lock.release()

    threads = []
    for number in range(6):
        thread = threading.Thread(target=take, args=(number,))
        thread.start()
        threads.append(thread)
        while len(lock._waiting) <= number:
            thread.join(0.001)
    lock.release()
    for thread in threads:
        thread.join(10)
    assert order == list(range(6))


def test_a_thread_that_holds_the_lock_may_take_it_again():
    lock = FairLock()
    lock.acquire()
    lock.acquire()
    lock.release()
    assert lock._owner == threading.get_ident()
    lock.release()
    assert lock._owner is None


def test_silence_counts_one_liveness_after_the_first_pass():
    grace = Grace()
    judged = [grace.judges_liveness(AT + timedelta(seconds=5 * tick), LIVENESS) for tick in range(30)]
    assert judged.index(True) == 18


def test_a_reaper_that_was_suspended_lets_workers_speak_first():
    grace = Grace(judged_from=AT - LIVENESS)
    assert grace.judges_liveness(AT, LIVENESS, resumed_at=AT - LIVENESS)
    woken = AT + timedelta(hours=8)
    assert not grace.judges_liveness(woken, LIVENESS, resumed_at=woken)
    assert not grace.judges_liveness(woken + timedelta(seconds=20), LIVENESS, resumed_at=woken)
    assert grace.judges_liveness(woken + LIVENESS, LIVENESS, resumed_at=woken)

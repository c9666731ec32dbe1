import signal

import pytest

from factory_site.serving.children import RESTART_NOW, Child, Family, python


@pytest.fixture(autouse=True)
def _own_signals():
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_a_child_that_asks_for_a_restart_gets_it_at_once_but_not_in_a_spin():
    said: list[str] = []
    child = Child("worker 1", python("-S", "-c", f"raise SystemExit({RESTART_NOW})"))
    Family([child], said.append).run(until=lambda: len(said) == 2)
    assert [line.rpartition("again ")[2] for line in said] == ["in 0 s", "in 2 s"]

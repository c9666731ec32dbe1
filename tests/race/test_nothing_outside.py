"""Nothing outside the database happens while a transaction is open: no request, no subprocess."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests
from django.db import connection

from tests.db.merging.conftest import stage_on, world

__all__ = ["world"]

OUTSIDE = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "socket.connect")
_watches: list["Watch"] = []


class Watch:
    """What was done outside, and what of it inside a transaction of the same thread."""

    def __init__(self) -> None:
        self.requests = 0
        self.faults: list[str] = []

    def saw(self, what: str) -> None:
        if connection.in_atomic_block:
            self.faults.append(f"{what}\n{''.join(traceback.format_stack()[-12:-2])}")


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    del arguments
    if event in OUTSIDE:
        for watch in _watches:
            watch.saw(event)


sys.addaudithook(_hook)  # stays for the life of the process, and does nothing while nobody watches


@contextmanager
def watching(monkeypatch) -> Iterator[Watch]:
    """Watch requests too: one that is sent on a kept connection connects nothing."""
    watch = Watch()
    send = requests.adapters.HTTPAdapter.send

    def seen(self, request, *arguments, **options):
        watch.requests += 1
        watch.saw(f"{request.method} {request.url}")
        return send(self, request, *arguments, **options)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", seen)
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)


@pytest.fixture
def stage(transactional_db, world, settings, tmp_path):
    del transactional_db
    yield from stage_on(world, settings, tmp_path)


def test_a_pull_request_on_its_way_to_the_base_asks_nobody_inside_a_transaction(stage, monkeypatch):
    """RU-H12: submit, turn, look, question, effects and merge; each request lies between two transactions."""
    with watching(monkeypatch) as watch:
        stage.converged()
        for _ in range(12):
            stage.settle()
            if stage.pull.state == "merged":
                break
    assert stage.pull.state == "merged"
    assert watch.requests > 10
    assert watch.faults == []


def test_the_watch_sees_what_is_done_inside_one(transactional_db, monkeypatch):
    """Without this the test above would prove nothing."""
    del transactional_db
    import subprocess

    from django.db import transaction

    with watching(monkeypatch) as watch, transaction.atomic():
        subprocess.run(["true"], check=True)
    assert watch.faults

"""A thread of the web process stays for the next request of its connection, a moment and no longer."""

import socket
from types import SimpleNamespace

import pytest
from gunicorn.workers.gthread import ThreadWorker

from factory_site.serving.threads import StayingThreads


@pytest.fixture
def connection():
    near, far = socket.socketpair()
    with near, far:
        yield SimpleNamespace(sock=near, far=far, is_http2=False)


def handled(monkeypatch, connection, answers, *, alive=True, follows=0):
    """How many requests one thread answered of a client that sends the next ones at once; gunicorn's last answer."""
    worker = StayingThreads.__new__(StayingThreads)
    worker.alive = alive
    given = iter(answers)
    count = 0

    def handle(self, conn):
        nonlocal count
        del self
        if count:
            conn.sock.recv(1)
        count += 1
        if count <= follows:
            conn.far.send(b".")
        return next(given)

    monkeypatch.setattr(ThreadWorker, "handle", handle)
    return worker.handle(connection), count


def test_requests_that_follow_at_once_are_answered_by_the_same_thread(monkeypatch, connection):
    assert handled(monkeypatch, connection, [True, True, True], follows=2) == (True, 3)


def test_a_connection_that_is_quiet_goes_back_to_gunicorn(monkeypatch, connection):
    assert handled(monkeypatch, connection, [True]) == (True, 1)


def test_nobody_stays_with_a_connection_that_ends_or_is_put_off(monkeypatch, connection):
    deferred = object()  # gunicorn's mark for a connection that has said nothing yet
    for answer in (False, deferred):
        assert handled(monkeypatch, connection, [answer], follows=1) == (answer, 1)
        connection.sock.recv(1)


def test_a_worker_that_leaves_and_http_2_are_gunicorns_own(monkeypatch, connection):
    assert handled(monkeypatch, connection, [True], alive=False, follows=1) == (True, 1)
    connection.sock.recv(1)
    connection.is_http2 = True
    assert handled(monkeypatch, connection, [True], follows=1) == (True, 1)

import socket

from django.test import RequestFactory

from workers.wire.claims import _has_left


def request_over(connection):
    return RequestFactory().post("/worker/v1/claim", **{"gunicorn.socket": connection})


def test_a_worker_that_closed_its_connection_has_left():
    served, worker = socket.socketpair()
    with served, worker:
        assert not _has_left(request_over(served))
        worker.sendall(b"the next request")
        assert not _has_left(request_over(served))
        assert served.recv(100) == b"the next request"
        worker.close()
        assert _has_left(request_over(served))


def test_a_server_that_does_not_tell_is_believed():
    assert not _has_left(RequestFactory().post("/worker/v1/claim"))
    assert not _has_left(request_over(object()))

"""An answer that was cut off is no answer, wherever the cut went through it."""

import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from workers.host.client import Client, Unreachable, WireFault

BODY = b'{"error": {"code": "fenced", "message": "attempt 1 has ended", "retryable": false, "details": {}}}'
BEGIN = b"HTTP/1.1 409 Conflict\r\nConnection: close\r\n"
HEADERS = BEGIN + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
CHUNKED = BEGIN + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.fixture
def answered():
    """Ask a server whose answer consists of these bytes and the end of the connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    credentials: Any = SimpleNamespace(current=SimpleNamespace(token="fwk_of_the_test"))
    client = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", credentials, "lab.20260830T121502Z.000001")

    def serve(content):
        taken, _ = listener.accept()
        with taken:
            taken.recv(65536)
            taken.sendall(content)

    def ask(content):
        thread = threading.Thread(target=serve, args=(content,), daemon=True)
        thread.start()
        try:
            return client.post("/worker/v1/bye", {})
        finally:
            thread.join(10)

    with listener:
        yield ask


@pytest.mark.parametrize("status", [b"200 OK", b"409 Conflict"])
@pytest.mark.parametrize("end", ["status", "status line", "header", "headers", "body"])
def test_a_definite_answer_is_one_that_came_whole(answered, status, end):
    """WP-H5"""
    whole = HEADERS.replace(b"409 Conflict", status) + BODY
    ends = {
        "status": whole.index(b"\r\n") - 1,
        "status line": whole.index(b"\r\n") + 2,
        "header": whole.index(b"Content-Length") + 4,
        "headers": whole.index(b"\r\n\r\n"),
        "body": len(whole) - 1,
    }
    with pytest.raises(Unreachable):
        answered(whole[: ends[end]])


@pytest.mark.parametrize("whole", [HEADERS + BODY, CHUNKED])
def test_one_that_came_whole_is_definite(answered, whole):
    with pytest.raises(WireFault) as fault:
        answered(whole)
    assert fault.value.code == "fenced"

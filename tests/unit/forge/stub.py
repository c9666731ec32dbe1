"""A real HTTP server on a loopback port that answers as a test says and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from convergence.forge.client import ForgeClient
from convergence.forge.config import ForgeConfig, TimeLimits
from convergence.forge.governor.book import Book
from convergence.forge.governor.pace import Pace
from runs.contract.tokens import TokenSource

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Reply:
    """``cut``: the connection closes after so many bytes of the body, once ``stall`` is set."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    hold: threading.Event | None = None
    stall: threading.Event | None = None
    endless: bool = False


Script = Callable[[Request], Reply]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, stub: "Stub") -> None:
        self.stub = stub
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def __getattr__(self, name: str) -> Any:
        """Take every method alike."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        stub = self.server.stub
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, dict(self.headers.items()), json.loads(raw) if raw else None)
        stub.requests.append(request)
        try:
            reply = stub.script(request)
        except BaseException as error:
            stub.errors.append(error)
            raise
        self._reply(reply)

    def _reply(self, reply: Reply) -> None:
        if reply.hold is not None:
            reply.hold.wait(10)
        body = reply.body
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.endless:
            self.end_headers()
            self._flood()
            return
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw if reply.cut is None else raw[: reply.cut])
        if reply.stall is not None:
            reply.stall.wait(10)
        if reply.cut is not None:
            self.close_connection = True

    def _flood(self) -> None:
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the base class gives it
        """Keep the test's output quiet."""


class Stub:
    """One server; ``script`` answers every request, ``requests`` remembers them in order."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []
        self.clients: list[ForgeClient] = []
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)
        assert not self.errors


class Clock:
    """An instant that a test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


def client_of(
    stub: Stub,
    *,
    clock: Clock | None = None,
    tokens: TokenSource | None = None,
    limits: TimeLimits | None = None,
    pauses: list[float] | None = None,
    book: Book | None = None,
    now: Callable[[], datetime] | None = None,
    **config: Any,
) -> ForgeClient:
    """A client of the stub; its pauses are noted in ``pauses`` instead of slept."""
    noted = [] if pauses is None else pauses
    client = ForgeClient(
        ForgeConfig(
            api_url=stub.url,
            graphql_url=f"{stub.url}/graphql",
            server_url=stub.url,
            tokens=tokens or TokenSource(stub.url, {"GITHUB_TOKEN": TOKEN}),
            version="1.2.3",
            limits=limits or TimeLimits(),
            **{"pace": Pace(apart=0.0), **config},
        ),
        now=now or (clock or Clock()).now,
        book=book,
        guard=lambda: None,
        sleep=noted.append,
    )
    stub.clients.append(client)
    return client

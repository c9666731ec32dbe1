"""HTTP/1.1 to one address over connections that are kept open: the standard library's client and nothing above it.

An idle worker is a process that waits, so what it loads is what a hundred of them cost.
"""

import http.client
import os
import select
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPMessage
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from workers.host.credential import is_loopback
from workers.host.options import UsageError

CONNECT_SECONDS = 5.0
MOST_IDLE = 4  # connections kept between requests: claim, heartbeats, trace and the attempt itself
WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
CA_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
UNTRUSTED = "SSLError; is the authority of its certificate in REQUESTS_CA_BUNDLE?"


class NoAnswer(Exception):
    """The connection failed or broke off; the text is the kind of failure and quotes nothing that was sent."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer, whole."""

    status: int
    reason: str
    headers: HTTPMessage
    content: bytes

    def header(self, name: str) -> str:
        """The value of a header, in whatever case it was sent; blank without one."""
        return str(self.headers.get(name, ""))


class Connections:
    """Requests to one address. Safe for threads: each request has a connection to itself while it lasts."""

    def __init__(self, url: str) -> None:
        """``url`` was checked by ``check_address``. Raises ``UsageError`` for a proxy or a CA that cannot be used."""
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port
        self._tls = _tls() if parts.scheme == "https" else None
        # A proxy of the environment never sees requests to this machine; a private authority counts everywhere.
        self._proxy = None if is_loopback(self._host) else _proxy(parts.scheme, self._host)
        self._prefix = parts.path.rstrip("/")
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def request(self, method: str, path: str, *, content: Any, headers: Mapping[str, str], seconds: float) -> Reply:
        """Send and read the whole answer; ``seconds`` bounds each wait for bytes. Raises ``NoAnswer``."""
        connection = self._take()
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(seconds)
            connection.request(method, self._prefix + path, body=content, headers=dict(headers))
            answer = connection.getresponse()
            _check_whole(answer)
            reply = Reply(answer.status, answer.reason, answer.headers, answer.read())
        except ssl.SSLError:
            connection.close()
            raise NoAnswer(UNTRUSTED) from None
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NoAnswer(type(error).__name__) from None
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return reply

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            if kept is None:
                return self._new()
            if _is_quiet(kept):
                return kept
            kept.close()

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _new(self) -> http.client.HTTPConnection:
        host, port = (self._proxy[0], self._proxy[1]) if self._proxy else (self._host, self._port)
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
        connection = http.client.HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=self._tls)
        if self._proxy:
            connection.set_tunnel(self._host, self._port or http.client.HTTPS_PORT, headers=self._proxy[2])
        return connection


def _check_whole(answer: http.client.HTTPResponse) -> None:
    """Raise unless the answer says how long it is.

    The standard library takes the end of the connection for the end of the headers and of the body: what was cut off
    after the status would be a definite answer.
    """
    if answer.getheader("Content-Length") is None and not answer.chunked and answer.status not in WITHOUT_BODY:
        raise http.client.IncompleteRead(b"")


def _is_quiet(connection: http.client.HTTPConnection) -> bool:
    """Whether a kept connection is still open: a server that closed it has left an end of file to read."""
    return connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]


def _tls() -> ssl.SSLContext:
    """Verified always, against the private CA of the environment if one is named, else the usual ones."""
    for name in CA_BUNDLES:
        if bundle := os.environ.get(name):
            path = Path(bundle)
            try:
                return ssl.create_default_context(
                    cafile=None if path.is_dir() else bundle, capath=bundle if path.is_dir() else None
                )
            except OSError as error:
                raise UsageError("usage", f"{name}: {bundle} cannot be used: {error.strerror or error}") from error
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _proxy(scheme: str, host: str) -> tuple[str, int | None, dict[str, str]] | None:
    """Host, port and headers of the proxy that the environment names for this address; None without one."""
    import base64
    from urllib.request import getproxies, proxy_bypass

    named = getproxies().get(scheme)
    if not named or proxy_bypass(host):
        return None
    parts = urlsplit(named if "://" in named else f"http://{named}")
    if parts.scheme != "http" or not parts.hostname:
        raise UsageError("usage", f"{scheme}_proxy: only a proxy of the form http://HOST:PORT can be used")
    if parts.username is None:
        return parts.hostname, parts.port, {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    basic = base64.b64encode(pair.encode()).decode()
    return parts.hostname, parts.port, {"Proxy-Authorization": f"Basic {basic}"}

"""One HTTP exchange with the forge: bounded in time and size, redirected only within its own host.

Knows nothing of GitHub's meaning. A lost, late or broken answer is ``Transient`` ``forge_unavailable`` whose details
say whether the request can have had an effect (``sent``).
"""

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import ReadTimeoutError

from runs.contract.errors import Permanent, Transient
from runs.contract.tokens import Token

MOST_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOVED = frozenset({301, 307, 308})  # how renamed repositories answer; a write is sent again there as it was
CHUNK_BYTES = 64 * 1024
POOL_SIZE = 20  # the most requests that a policy lets one process have in flight


class BearerAuth(AuthBase):
    """Puts the token into the ``Authorization`` header, and keeps a netrc file from replacing it."""

    def __init__(self, token: Token) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Return the request with its header."""
        request.headers["Authorization"] = f"Bearer {self._token.value}"
        return request


class RedirectedElsewhere(Permanent):
    """The forge names an address on another host, which is never followed with the token.

    ``location`` is that address. It may carry a signature, so it stands in no message.
    """

    def __init__(self, location: str, status: int) -> None:
        host = urlsplit(location).netloc or "none"
        super().__init__(
            "forge_redirect_refused",
            f"the forge redirects to another host ({host}), which is not followed",
            details={"status": status},
        )
        self.location = location


@dataclass(frozen=True, slots=True)
class Exchange:
    """What came back, whole. ``moved_to`` is the address that a 301, 307 or 308 named, for renamed repositories."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    moved_to: str | None


class Transport:
    """One session for each process: made again after a fork, never shared with the parent."""

    def __init__(self, *, user_agent: str, connect_seconds: float, body_bytes: int) -> None:
        self._user_agent = user_agent
        self._connect_seconds = connect_seconds
        self._body_bytes = body_bytes
        self._lock = threading.Lock()
        self._session: requests.Session | None = None
        self._pid = 0

    def send(
        self,
        method: str,
        url: str,
        *,
        token: Token,
        read_seconds: float,
        headers: Mapping[str, str],
        params: Mapping[str, str] | None = None,
        json: Any = None,
    ) -> Exchange:
        """Return the last answer of at most three redirects on the same scheme and host."""
        origin = urlsplit(url)
        moved_to: str | None = None
        for _ in range(MOST_REDIRECTS + 1):
            exchange = self._once(
                method, url, token=token, read_seconds=read_seconds, headers=headers, params=params, json=json
            )
            if exchange.status not in REDIRECTS:
                return Exchange(exchange.status, exchange.headers, exchange.content, moved_to)
            target = urlsplit(urljoin(url, exchange.headers.get("Location", "")))
            if (target.scheme, target.netloc) != (origin.scheme, origin.netloc):
                raise RedirectedElsewhere(target.geturl(), exchange.status)
            if method != "GET" and exchange.status not in MOVED:
                raise Permanent(
                    "forge_redirect_refused",
                    f"the forge answers a write with {exchange.status}, which does not let it be repeated",
                    details={"status": exchange.status},
                )
            if exchange.status in MOVED:
                moved_to = target.geturl()
            url, params = target.geturl(), None
        raise Permanent("forge_redirect_refused", f"more than {MOST_REDIRECTS} redirects")

    def close(self) -> None:
        """Close the connections that are kept open; the next request opens new ones."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None

    def _once(
        self,
        method: str,
        url: str,
        *,
        token: Token,
        read_seconds: float,
        headers: Mapping[str, str],
        params: Mapping[str, str] | None,
        json: Any,
    ) -> Exchange:
        deadline = time.monotonic() + self._connect_seconds + read_seconds
        try:
            with self._own_session().request(
                method,
                url,
                params=params,
                json=json,
                headers={"User-Agent": self._user_agent, **headers},
                auth=BearerAuth(token),
                timeout=(self._connect_seconds, read_seconds),
                allow_redirects=False,
                stream=True,
            ) as response:
                content = self._body(response, deadline)
                return Exchange(response.status_code, CaseInsensitiveDict(response.headers), content, None)
        except requests.exceptions.ConnectTimeout as error:
            raise _lost("no connection in time", sent=False, timed_out=False) from error
        except requests.exceptions.Timeout as error:
            raise _lost("no answer in time", sent=True, timed_out=True) from error
        except (requests.exceptions.RequestException, OSError) as error:
            if any(isinstance(part, ReadTimeoutError) for part in error.args):  # how a stalled body is reported
                raise _lost("the answer stopped arriving", sent=True, timed_out=True) from error
            raise _lost(f"the connection broke ({type(error).__name__})", sent=True, timed_out=False) from error

    def _body(self, response: requests.Response, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        for chunk in response.iter_content(CHUNK_BYTES):
            size += len(chunk)
            if size > self._body_bytes:
                raise Permanent(
                    "answer_too_large",
                    f"the forge's answer is larger than {self._body_bytes} bytes",
                    details={"limit_bytes": self._body_bytes},
                )
            if time.monotonic() > deadline:
                raise requests.exceptions.ReadTimeout("the answer arrives too slowly")
            parts.append(chunk)
        return b"".join(parts)

    def _own_session(self) -> requests.Session:
        with self._lock:
            if self._session is None or self._pid != os.getpid():
                session = requests.Session()
                session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # nothing of one answer travels on
                adapter = HTTPAdapter(pool_connections=2, pool_maxsize=POOL_SIZE, max_retries=0)
                session.mount("https://", adapter)
                session.mount("http://", adapter)
                self._session, self._pid = session, os.getpid()
            return self._session


def _lost(why: str, *, sent: bool, timed_out: bool) -> Transient:
    details = {"sent": sent, "timed_out": timed_out, "broken": not timed_out}
    return Transient("forge_unavailable", f"GitHub cannot be reached: {why}", details=details)

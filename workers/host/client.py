"""The worker's end of ``/worker/v1``: one request, one answer or one classified fault; patience on top."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests

from runs.contract.canonical import canonical_bytes
from runs.contract.codes import Reaction, reaction
from runs.contract.errors import Invalid
from runs.contract.instants import parse_instant
from workers.host.credential import CredentialFile, is_loopback

CONNECT_SECONDS = 5.0
READ_MARGIN = 10.0  # seconds beyond the wait that was asked for
UPLOAD_SECONDS = 60.0  # without progress
FIRST_RETRY = 0.5  # seconds; doubled up to LONGEST_RETRY
LONGEST_RETRY = 30.0
UNTRUSTED = "SSLError; is the authority of its certificate in REQUESTS_CA_BUNDLE?"
CREDENTIAL_PAUSE = 5.0  # seconds between two looks at a credential file that was refused
DOUBLINGS = 10
CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Unreachable(Exception):
    """No definite answer: the request may or may not have had its effect."""


class WireFault(Exception):
    """A definite refusal, with what a worker does about it."""

    def __init__(self, code: str, http: int, message: str, *, details: Any = None, retry_after: float = 0.0) -> None:
        """``retry_after`` in seconds, 0 if the server named none."""
        super().__init__(f"{http} {code}: {message}")
        self.code = code
        self.http = http
        self.details: dict[str, Any] = details if isinstance(details, dict) else {}
        self.retry_after = retry_after
        self.reaction = reaction(code, http)


@dataclass(frozen=True, slots=True)
class Answer:
    """A 2xx answer: its document (None for bytes), its bytes, and when it was received (``elapsed``)."""

    document: dict[str, Any]
    content: bytes
    received: float

    def instant(self, text: str | None) -> float | None:
        """A server's instant as a point on this process's own clock; a wrong wall clock changes nothing."""
        if text is None:
            return None
        ahead = parse_instant(text) - parse_instant(self.document["serverTime"])
        return self.received + ahead.total_seconds()


def elapsed() -> float:
    """Seconds on a clock that goes on while the machine is suspended, where there is one."""
    return time.clock_gettime(CLOCK)


class Backoff:
    """The pauses between repetitions: doubling, bounded, and uneven so that workers do not march in step."""

    def __init__(self) -> None:
        """Nothing failed yet."""
        self._failures = 0

    def next(self, at_least: float = 0.0) -> float:
        """Seconds until the next try."""
        pause = min(LONGEST_RETRY, FIRST_RETRY * 2.0 ** min(self._failures, DOUBLINGS))
        self._failures += 1
        return max(at_least, pause * random.uniform(0.5, 1.0))  # noqa: S311 -- spreads load, hides nothing

    def reset(self) -> None:
        """Something worked."""
        self._failures = 0


class Client:
    """Requests of one worker. Every thread gets a connection of its own."""

    def __init__(self, url: str, credentials: CredentialFile, worker_id: str) -> None:
        """``url`` was checked by ``check_address``; ``worker_id`` is blank for a supervisor, which is no worker."""
        self.url = url
        self.credentials = credentials
        self.worker_id = worker_id
        self._local = threading.local()
        host = urlsplit(url).hostname or ""
        # A proxy of the environment never sees requests to this machine; REQUESTS_CA_BUNDLE counts everywhere.
        self._proxies = {"no_proxy": host} if is_loopback(host) else {}

    def post(self, path: str, body: Mapping[str, Any], *, key: str | None = None, worker_id: str | None = None,
             wait: float = 0.0) -> Answer:  # fmt: skip
        """POST a JSON document; ``key`` is the Idempotency-Key, ``wait`` what the server may hold the answer."""
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        content = canonical_bytes(body)
        return self._request(
            "POST", path, content=content, headers=headers, worker_id=worker_id, seconds=wait + READ_MARGIN
        )

    def get(self, path: str, *, worker_id: str | None = None) -> Answer:
        """GET bytes."""
        return self._request("GET", path, content=None, headers={}, worker_id=worker_id, seconds=UPLOAD_SECONDS)

    def upload(self, content: Any, headers: Mapping[str, str], *, worker_id: str | None = None) -> Answer:
        """POST the bytes of an open file to the artifact store."""
        return self._request(
            "POST", "/artifacts", content=content, headers=headers, worker_id=worker_id, seconds=UPLOAD_SECONDS
        )

    def _request(
        self, method: str, path: str, *, content: Any, headers: Mapping[str, str], worker_id: str | None, seconds: float
    ) -> Answer:
        credential = self.credentials.current
        boot = worker_id or self.worker_id
        try:
            answer = self._session().request(
                method,
                f"{self.url}{path}",
                data=content,
                headers={**headers, "X-Worker-Id": boot} if boot else headers,
                auth=_Bearer(credential.token),
                timeout=(CONNECT_SECONDS, seconds),
                allow_redirects=False,
                proxies=dict(self._proxies),
            )
        except requests.exceptions.SSLError:
            raise Unreachable(UNTRUSTED) from None
        except requests.RequestException as error:
            # The text of such an error may quote headers; its type says enough.
            raise Unreachable(type(error).__name__) from None
        received = elapsed()
        if answer.status_code >= requests.codes.multiple_choices:
            raise _fault(answer)
        document: dict[str, Any] = {}
        if "json" in answer.headers.get("Content-Type", "") and method == "POST":
            with contextlib.suppress(ValueError):
                found = answer.json()
                document = found if isinstance(found, dict) else {}
        return Answer(document=document, content=answer.content, received=received)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            self._local.session = session
        return session


def patiently(act: Callable[[], Answer], credentials: CredentialFile, pause: Callable[[float], bool]) -> Answer:
    """Repeat until there is a definite answer; ``pause`` sleeps and says whether to give up.

    Raises the last ``Unreachable`` or ``WireFault`` after giving up, and every fault that repetition does not mend.
    """
    backoff = Backoff()
    while True:
        try:
            return act()
        except Unreachable:
            if pause(backoff.next()):
                raise
        except WireFault as fault:
            if fault.reaction is Reaction.STOP_CLAIMING:
                if pause(CREDENTIAL_PAUSE):
                    raise
                credentials.reread(force=True)
            elif fault.reaction is not Reaction.RETRY or pause(backoff.next(fault.retry_after)):
                raise


class _Bearer(requests.auth.AuthBase):
    """Sets the header itself, so that no .netrc of the machine can replace it."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def _fault(answer: requests.Response) -> WireFault:
    code, message, details = "", answer.reason or "", None
    with contextlib.suppress(ValueError, KeyError, TypeError, Invalid):
        error = answer.json()["error"]
        code, message, details = str(error["code"]), str(error["message"]), error.get("details")
    try:
        retry_after = float(answer.headers.get("Retry-After", "0"))
    except ValueError:
        retry_after = 0.0
    return WireFault(code or "unknown", answer.status_code, message, details=details, retry_after=retry_after)

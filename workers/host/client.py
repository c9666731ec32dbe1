"""The worker's end of ``/worker/v1``: one request, one answer or one classified fault; patience on top."""

import contextlib
import json
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from runs.contract.canonical import canonical_bytes
from runs.contract.codes import Reaction, reaction
from runs.contract.errors import Invalid
from runs.contract.instants import parse_instant
from workers.host.connections import Connections, NoAnswer, Reply
from workers.host.credential import CredentialFile

READ_MARGIN = 10.0  # seconds beyond the wait that was asked for
UPLOAD_SECONDS = 60.0  # without progress
FIRST_RETRY = 0.5  # seconds; doubled up to LONGEST_RETRY
LONGEST_RETRY = 30.0
CREDENTIAL_PAUSE = 5.0  # seconds between two looks at a credential file that was refused
COMPLAINT_SECONDS = 60.0  # between two log lines about a refused credential
DOUBLINGS = 10
CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

log = logging.getLogger(__name__)


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
    """Requests of one worker. Safe for threads."""

    def __init__(self, url: str, credentials: CredentialFile, worker_id: str) -> None:
        """``url`` was checked by ``check_address``; ``worker_id`` is blank for a supervisor, which is no worker."""
        self.url = url
        self.credentials = credentials
        self.worker_id = worker_id
        self._connections = Connections(url)
        self._refused_at: float | None = None

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
        """POST the bytes of an open file, whose ``Content-Length`` is among the headers, to the artifact store."""
        return self._request(
            "POST", "/artifacts", content=content, headers=headers, worker_id=worker_id, seconds=UPLOAD_SECONDS
        )

    def _request(
        self, method: str, path: str, *, content: Any, headers: Mapping[str, str], worker_id: str | None, seconds: float
    ) -> Answer:
        said = {**headers, "Authorization": f"Bearer {self.credentials.current.token}"}
        if boot := worker_id or self.worker_id:
            said["X-Worker-Id"] = boot
        try:
            reply = self._connections.request(method, path, content=content, headers=said, seconds=seconds)
        except NoAnswer as error:
            raise Unreachable(str(error)) from None
        received = elapsed()
        if reply.status >= HTTPStatus.MULTIPLE_CHOICES:
            fault = _fault(reply)
            if fault.reaction is Reaction.STOP_CLAIMING:
                self._say_refused(fault.code)
            raise fault
        document: dict[str, Any] = {}
        if method == "POST" and "json" in reply.header("Content-Type"):
            with contextlib.suppress(ValueError):
                found = json.loads(reply.content)
                document = found if isinstance(found, dict) else {}
        return Answer(document=document, content=reply.content, received=received)

    def _say_refused(self, code: str) -> None:
        """What a person has to do, once a minute, whichever request was refused."""
        if self._refused_at is not None and elapsed() - self._refused_at < COMPLAINT_SECONDS:
            return
        self._refused_at = elapsed()
        path, node = self.credentials.path, self.credentials.current.node
        log.warning("event=credential_refused code=%s file=%s next='on the control node: manage.py credentials rotate "
                    "%s --output FILE; put FILE here as %s and this process goes on by itself'",
                    code, path, node, path)  # fmt: skip


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


def _fault(reply: Reply) -> WireFault:
    code, message, details = "", reply.reason or "", None
    with contextlib.suppress(ValueError, KeyError, TypeError, Invalid):
        error = json.loads(reply.content)["error"]
        code, message, details = str(error["code"]), str(error["message"]), error.get("details")
    try:
        retry_after = float(reply.header("Retry-After") or "0")
    except ValueError:
        retry_after = 0.0
    return WireFault(code or "unknown", reply.status, message, details=details, retry_after=retry_after)

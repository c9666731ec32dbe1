"""The live trace: best effort, bounded, and never in the way of the run."""

import threading
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from runs.contract.canonical import canonical_bytes
from runs.contract.codes import Reaction
from runs.contract.errors import Invalid
from runs.contract.instants import format_instant
from runs.contract.redactor import Redactor
from runs.contract.wire import TRACE_KINDS, TRACE_ROWS
from workers.host.attempt.claimed import Claimed
from workers.host.client import Backoff, Client, Unreachable, WireFault, elapsed

QUEUE_ROWS = 2000
BATCH_SECONDS = 1.0
PATIENCE_SECONDS = 60.0  # then the batch is dropped
LARGEST_PAYLOAD = 16 * 1024
PREVIEW_CHARACTERS = 4096
LARGEST_REST = 256 * 1024  # bytes of the rows that travel with the outcome


class TraceSender:
    """Rows of one attempt, sent in batches by a thread of its own. ``row`` never blocks and never raises."""

    def __init__(self, client: Client, claimed: Claimed, redactor: Redactor, skew: timedelta) -> None:
        """``skew`` is what the server's clock is ahead; rows carry its time for display."""
        self._client = client
        self._claimed = claimed
        self._redactor = redactor
        self._skew = skew
        self._rows: deque[dict[str, Any]] = deque()
        self._seq = 0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = False
        self._full = False
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, name="trace", daemon=True)
        self._thread.start()

    def row(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue one row; when the queue is full the newest are dropped, lifecycle rows last."""
        if kind not in TRACE_KINDS or self._full:
            return
        try:
            shown = _clipped(self._redactor.redact_document(payload))
        except Invalid:
            return
        with self._lock:
            room = QUEUE_ROWS if kind != "lifecycle" else QUEUE_ROWS + 200
            if len(self._rows) >= room:
                self.dropped += 1
                return
            self._seq += 1
            at = format_instant(datetime.now(UTC) + self._skew)
            self._rows.append({"seq": self._seq, "at": at, "kind": kind, "payload": shown})

    def close(self, seconds: float = 2.0) -> list[dict[str, Any]]:
        """The last rows, which the outcome carries; earlier ones are sent first, for a moment only."""
        self._closing = True
        self._wake.set()
        self._thread.join(seconds)
        with self._lock:
            rest = list(self._rows)[-TRACE_ROWS:]
            self._rows.clear()
        return [] if self._full else _fitting(rest)

    def _run(self) -> None:
        while True:
            self._wake.wait(BATCH_SECONDS)
            with self._lock:
                if self._closing and len(self._rows) <= TRACE_ROWS:
                    return
                batch = [self._rows.popleft() for _ in range(min(TRACE_ROWS, len(self._rows)))]
            if batch:
                self._send(batch)

    def _send(self, rows: list[dict[str, Any]]) -> None:
        body = {"attempt": self._claimed.number, "fencingToken": self._claimed.token, "rows": rows}
        path = f"/worker/v1/runs/{self._claimed.run_id}/trace"
        backoff, until = Backoff(), elapsed() + PATIENCE_SECONDS
        while elapsed() < until and not self._full:
            try:
                self._full = bool(self._client.post(path, body).document.get("full"))
            except WireFault as fault:
                if fault.reaction is Reaction.ABANDON or (fault.http < 500 and fault.http != 429):  # noqa: PLR2004 -- final
                    self._full = fault.reaction is Reaction.ABANDON
                    return
            except Unreachable:
                pass
            else:
                return
            if self._closing:
                return
            self._wake.wait(backoff.next())


def _fitting(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest of the rows that fit together into what an outcome may carry."""
    room = LARGEST_REST
    for at in range(len(rows) - 1, -1, -1):
        room -= len(canonical_bytes(rows[at]))
        if room < 0:
            return rows[at + 1 :]
    return rows


def _clipped(payload: Any) -> dict[str, Any]:
    content = canonical_bytes(payload)
    if len(content) <= LARGEST_PAYLOAD:
        return dict(payload)
    return {"truncated": True, "preview": content.decode()[:PREVIEW_CHARACTERS], "originalBytes": len(content)}

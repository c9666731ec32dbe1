"""The far side of a worker's wire: a small control plane, state first, that speaks /worker/v1 over real HTTP."""

import contextlib
import hashlib
import itertools
import json
import os
import socket
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

API = "factory.worker-api/v1"
TOKEN = "fwk_" + "a1B2c3D4e5F" * 3 + "0123456789"
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}}


def canonical(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(content):
    return "sha256:" + hashlib.sha256(content if isinstance(content, bytes) else canonical(content)).hexdigest()


@dataclass
class Lease:
    """One attempt, as the control plane knows it."""

    run_id: str
    number: int
    token: str
    claim: dict[str, Any]
    worker_id: str = ""
    phases: list[str] = field(default_factory=list)
    beats: list[dict[str, Any]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    cancel: str | None = None
    fenced: bool = False
    deadline: datetime | None = None
    lease_over: datetime | None = None
    agent_seconds: float = 60.0
    result: dict[str, Any] | None = None
    result_key: str = ""
    grants: dict[str, int] = field(default_factory=dict)
    uploads: dict[str, str] = field(default_factory=dict)


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A killed worker breaks its connections off."""

    def process_request(self, request, client_address):
        self.open = [*getattr(self, "open", ()), request]
        super().process_request(request, client_address)

    def hang_up(self):
        """End the connections that workers keep, as the end of the process would."""
        for connection in getattr(self, "open", ()):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class ControlPlane:
    """Holds runs, hands them out, and remembers every request. ``offset`` puts its clock ahead of the host's."""

    def __init__(self, *, offset: timedelta = timedelta(0), heartbeat_ms: int = 400, port: int = 0) -> None:
        self.offset = offset
        self.heartbeat_ms = heartbeat_ms
        self.lock = threading.Condition()
        self.tokens = {TOKEN}
        self.queue: list[Lease] = []
        self.leases: dict[str, Lease] = {}
        self.objects: dict[str, bytes] = {}
        self.altered: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.hellos: list[dict[str, Any]] = []
        self.byes: list[tuple[str, str]] = []
        self.claims: dict[str, Lease] = {}
        self.refuse_results: list[tuple[int, str]] = []
        self.agent_seconds = 60.0
        self.due_seconds = 30.0
        self.surprise: Lease | None = None
        self.bounds: tuple[int, int] | None = None
        self.claimable: int | None = None
        self.silent = False
        self.asks_to_leave = False
        self.lost: set[str] = set()
        self.liveness = 30.0
        self.reports: list[dict[str, Any]] = []
        # Agents are found by their run: two test processes at once must not have the same ones.
        self._numbers = itertools.count(100_000_001 + os.getpid() % 800_000 * 1000)
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._server.hang_up()

    # Verbs of a test.

    def plan(self, **changes):
        """A run that nobody can claim yet."""
        lease = self.enqueue(**changes)
        with self.lock:
            self.queue.remove(lease)
        return lease

    def enqueue(self, *, spec=None, definition=None, prompt="Do it.", schema=SCHEMA, adapter="command", number=1):
        """Queue a run and return its lease-to-be."""
        serial = next(self._numbers)
        run_id = f"run_01J9X2M7Q4T6V8B0C{serial:09d}"
        body = {
            "schemaVersion": "factory.agent-definition/v1", "id": "fixer", "version": 1, **(definition or {}),
        }  # fmt: skip
        document = {
            "schemaVersion": "factory.run-spec/v1", "runId": run_id, "createdAt": self.stamp(), "agent": "fixer@1",
            "defHash": sha256(body), "promptBinding": "latest", "input": {}, "inputHash": sha256({}),
            "subject": "repository:1", "origin": {"kind": "flow"}, "correlationId": "c", "adapter": "any",
            "workspace": {"kind": "ephemeral"}, "timeoutSeconds": 600, "outputContract": "factory.fix/v1",
            "idempotencyKey": run_id, **(spec or {}),
        }  # fmt: skip
        documents = []
        if schema is not None:
            content = canonical(schema)
            self.objects[sha256(content)] = content
            documents = [{"kind": "schema", "name": "output", "hash": sha256(content), "sizeBytes": len(content)}]
        claim = {
            "runId": run_id, "attempt": number, "fencingToken": str(serial * 7), "adapter": adapter, "model": None,
            "specHash": sha256(document), "spec": document, "definition": body, "documents": documents,
            "prompt": {"name": "p.md", "hash": sha256(prompt.encode()), "text": prompt},
        }  # fmt: skip
        lease = Lease(run_id, number, str(serial * 7), claim, agent_seconds=self.agent_seconds)
        with self.lock:
            self.queue.append(lease)
            self.lock.notify_all()
        return lease

    def cancel(self, lease, reason="operator_cancel"):
        with self.lock:
            lease.cancel = reason
            self.lock.notify_all()

    def fence(self, lease):
        with self.lock:
            lease.fenced = True
            self.lock.notify_all()

    def until(self, condition, seconds=20.0, what=""):
        """Wait for a fact; fails loudly when it does not come true in time."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            with self.lock:
                found = condition()
                if found:
                    return found
                self.lock.wait(0.05)
        message = f"not true within {seconds} s: {what or condition}; last requests {self.requests[-12:]}"
        raise AssertionError(message)

    def result_of(self, lease, seconds=20.0):
        self.until(lambda: lease.result is not None, seconds, f"result of {lease.run_id}")
        return lease.result

    # What the wire does.

    def now(self):
        return datetime.now(UTC) + self.offset

    def stamp(self, ahead=0.0):
        return (self.now() + timedelta(seconds=ahead)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def answer(self, **fields):
        return {"schemaVersion": API, "serverTime": self.stamp(), **fields}

    def note(self, method, path, worker_id):
        with self.lock:
            self.requests.append((method, path, worker_id))
            self.lock.notify_all()

    def hello(self, body, worker_id):
        with self.lock:
            self.hellos.append({**body, "workerId": worker_id})
            self.lock.notify_all()
        return self.answer(
            workerId=worker_id, node=worker_id.partition(".")[0], heartbeatEveryMs=self.heartbeat_ms,
            livenessSeconds=30, maxWaitSeconds=5, minWorkerVersion="0.0.1", serverVersion="0.1.0",
            git={"name": "factory", "email": "factory@example.invalid"},
        )  # fmt: skip

    def bye(self, body, worker_id):
        with self.lock:
            self.byes.append((worker_id, body["reason"]))
            self.lock.notify_all()
        return self.answer()

    def pool(self, body):
        with self.lock:
            self.reports.append(body)
            self.lock.notify_all()
            rows = [self._state(each["workerId"]) for each in body["workers"] if each["workerId"]]
            leaving = {each["workerId"] for each in body["workers"] if each["draining"]}
            states = ["draining" if row["workerId"] in leaving and not row["lost"] else row["state"] for row in rows]
            claimable = len(self.queue) if self.claimable is None else self.claimable
        low, high = self.bounds or (body["min"], body["max"])
        counts = {name: states.count(name) for name in ("idle", "busy", "draining", "lost")}
        return self.answer(nextInMs=200, livenessSeconds=self.liveness, claimable=claimable, claimableCapped=False,
                           **counts, min=low, max=high, workers=rows)  # fmt: skip

    def _state(self, worker_id):
        held = [lease for lease in self.leases.values() if lease.worker_id == worker_id and lease.result is None]
        lost = worker_id in self.lost
        state = "lost" if lost else "busy" if held else "idle"
        return {"workerId": worker_id, "state": state, "runId": None, "lastSeenAt": self.stamp(), "lost": lost,
                "heldAttempt": bool(held) and not lost}  # fmt: skip

    def claim(self, body, worker_id, key):
        limit = time.monotonic() + body.get("waitSeconds", 0)
        with self.lock:
            if self.surprise is not None and not body.get("waitSeconds"):
                self.queue, self.surprise = [self.surprise], None
            while key not in self.claims and not self.queue:
                left = limit - time.monotonic()
                if self.asks_to_leave:
                    return self.answer(claim=None, reason="draining", retryAfterMs=500)
                if left <= 0:
                    pause = 0 if body.get("waitSeconds") else 50
                    return self.answer(claim=None, reason="none_ready", retryAfterMs=pause)
                self.lock.wait(left)
            if key not in self.claims:
                self.claims[key] = self.queue.pop(0)
                self.lock.notify_all()
            lease = self.claims[key]
            lease.worker_id = worker_id
            self.leases[lease.run_id] = lease
        instants = {"leaseExpiresAt": self.stamp(600), "heartbeatDueAt": self.stamp(self.due_seconds)}
        budget = {"usd": None, "tokens": None}
        claim = {**lease.claim, **instants, "heartbeatEveryMs": self.heartbeat_ms, "budgetLeft": budget}
        return self.answer(claim=claim)

    def heartbeat(self, lease, body):
        limit = time.monotonic() + body.get("waitSeconds", 0)
        with self.lock:
            lease.beats.append(body)
            lease.phases.append(body["phase"])
            if body["phase"] == "running" and lease.deadline is None:
                lease.deadline = self.now() + timedelta(seconds=lease.agent_seconds)
            newest = body["sequence"]
            self.lock.notify_all()
            while (left := limit - time.monotonic()) > 0:
                if lease.cancel or lease.fenced or max(beat["sequence"] for beat in lease.beats) > newest:
                    break
                self.lock.wait(left)
            cancel = {"requested": lease.cancel is not None, "reason": lease.cancel}
            recorded = bool(body.get("atDeadline") and lease.deadline and lease.deadline <= self.now())
        deadline = lease.deadline.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if lease.deadline else None
        due = self.stamp(self.due_seconds)
        return self.answer(leaseExpiresAt=self.stamp(600), heartbeatDueAt=due, agentDeadlineAt=deadline,
                           deadlineRecorded=recorded, cancel=cancel)  # fmt: skip

    def publish(self, lease, body, key, worker_id):
        with self.lock:
            if lease.result is None:
                lease.result, lease.result_key = {**body, "workerId": worker_id}, key
            self.lock.notify_all()
        return self.answer(accepted=True, runId=lease.run_id, attempt=lease.number,
                           terminalState=body["terminalState"], runState=body["terminalState"])  # fmt: skip

    def fetched(self, digest):
        return self.altered.get(digest, self.objects.get(digest))

    def store(self, lease, content, kind):
        digest = sha256(content)
        with self.lock:
            self.objects[digest] = content
            lease.grants[digest] = len(content)
            lease.uploads[kind] = digest
            self.lock.notify_all()
        return {"schemaVersion": API, "sizeBytes": len(content), "mediaType": "text/plain", "sha256": digest}


def fault(code, message="no"):
    return {"schemaVersion": API, "error": {"code": code, "message": message, "retryable": False, "details": {}}}


def _handler(plane):  # noqa: C901 - one class, closed over the state
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            self._serve("GET")

        def do_POST(self):
            self._serve("POST")

        def _serve(self, method):
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = urlsplit(self.path).path
            worker_id = self.headers.get("X-Worker-Id", "")
            plane.note(method, path, worker_id)
            if self.headers.get("Authorization", "").removeprefix("Bearer ") not in plane.tokens:
                return self._send(401, fault("credential_unknown"))
            parts = path.strip("/").split("/")
            if method == "GET":
                digest = f"sha256:{parts[-1]}"
                found = plane.fetched(digest)
                return self._send(404, fault("not_found")) if found is None else self._send(200, found)
            if path == "/artifacts":
                lease = plane.leases[self.headers["X-Run-Id"]]
                if lease.fenced:
                    return self._send(409, fault("fenced"))
                return self._send(201, plane.store(lease, content, self.headers["X-Artifact-Kind"]))
            body = json.loads(content)
            if parts[2] == "hello":
                return self._send(200, plane.hello(body, worker_id))
            if parts[2] == "pool":
                return self._send(503, fault("unavailable")) if plane.silent else self._send(200, plane.pool(body))
            if parts[2] == "bye":
                return self._send(200, plane.bye(body, worker_id))
            if parts[2] == "claim":
                return self._send(200, plane.claim(body, worker_id, self.headers["Idempotency-Key"]))
            return self._of_run(parts[3], parts[4], body, worker_id)

        def _of_run(self, run_id, verb, body, worker_id):
            lease = plane.leases[run_id]
            if verb == "heartbeat":
                answer = None if lease.fenced else plane.heartbeat(lease, body)
                return self._send(409, fault("fenced")) if lease.fenced else self._send(200, answer)
            if lease.fenced:
                return self._send(409, fault("fenced"))
            if verb == "trace":
                with plane.lock:
                    lease.rows += body["rows"]
                return self._send(200, plane.answer(nextSeq=body["rows"][-1]["seq"] + 1, full=False))
            if plane.refuse_results:
                status, code = plane.refuse_results.pop(0)
                return self._send(status, fault(code))
            if lease.cancel:
                return self._send(409, fault("attempt_terminal"))
            return self._send(200, plane.publish(lease, body, self.headers["Idempotency-Key"], worker_id))

        def _send(self, status, body):
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            try:
                self.send_response(status)
                kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

    return Handler

"""Runs in every state that people meet, their workers, and a stored object: made by the product's own services."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from runs.artifacts.store import object_stored
from runs.artifacts.uploads import artifact_grant
from runs.clock import now as clock_now
from runs.models import Artifact, Attempt, Run, TraceRow
from runs.outbox.write import outbox_add
from runs.queue.cancel import run_cancel
from runs.queue.enqueue import run_enqueue
from runs.queue.limits.balance import Amount
from runs.queue.limits.pauses import pause_lift, pause_set
from runs.queue.limits.raises import budget_raise
from tests import queue_driver as queue
from workers.models import Pool, Worker

if TYPE_CHECKING:
    from tests.browser.world import World

HOSTILE_LINE = "<img src=x onerror=alert(1)> \x1b[31mred\x1b[0m \u202egpj.exe javascript:alert(2)"
LOG = b"collecting tests\nFAILED tests/upload_test.py::test_retries_twice\nexpected 2, got 3\n"
LABELS = {"os": "linux", "can": "build"}


@dataclass(frozen=True)
class Fleet:
    """What a test may want to hold."""

    running: Run
    failed: Run
    refused: Run
    completed: Run
    cancelled: Run
    unplaceable: Run
    again: Run
    busy: str
    idle: str
    lost: str
    log_sha256: str


def fill_fleet(world: World) -> Fleet:
    """Make the runs; they belong to the pull requests of the world."""
    queue.load_definitions()
    at = clock_now()
    Worker.objects.all().delete()  # those of the world offer nothing
    busy, idle, lost = (queue.worker(number) for number in (0x9F3C1A, 0x77AA01, 0x1B7E02))
    for worker_id in (busy, idle):
        _worker(worker_id, at, at + timedelta(days=1))
    _worker(lost, at, at - timedelta(minutes=30))
    _worker(
        queue.worker(0x1B7E01), at, at - timedelta(hours=3), stopped_at=at - timedelta(hours=3), stop_reason="drained"
    )
    _pool("lab", at, at + timedelta(days=1))
    _pool("build7", at, at - timedelta(minutes=4), crashes=5, last_line="work: host.yaml: colour is not a key")
    completed = _completed(world, idle)
    refused = _ended(world, idle, queue.refused_body)
    failed, sha256 = _failed(world, idle)
    cancelled = _enqueued(world.waiting)
    run_cancel(run=cancelled, code="operator_cancel", actor="operator:ops-1", reason="superseded by #430")
    again = _again(world, idle)
    running = _running(world, busy)
    unplaceable = _enqueued(world.escalated, placement={"can": "infra-exec"})
    Run.objects.filter(pk=unplaceable.pk).update(queued_at=at - timedelta(minutes=7), rank_at=at - timedelta(minutes=7))
    dead = outbox_add(topic="forge.write", key="close:acme/web#398", stream="pull-request:501:398", payload={})
    type(dead).objects.filter(pk=dead.pk).update(
        dead_at=at, tries=8, last_error="403: the credential may not write here"
    )
    _limits(world)
    for each in (completed, refused, failed, cancelled, again, running, unplaceable):
        each.refresh_from_db()
    return Fleet(running, failed, refused, completed, cancelled, unplaceable, again, busy, idle, lost, sha256)


def _pool(node: str, at: datetime, seen: datetime, **columns: Any) -> None:
    Pool.objects.create(
        node=node,
        name="main",
        host=f"{node}.example.org",
        version="0.1.0+7d1f2a9c",
        min=1,
        max=2,
        counts={"workers": 2, "idle": 1, "busy": 1, "draining": 0, "lost": 0, "starting": 0, "claimable": 0},
        action="hold",
        reason="cooling_down",
        decided_at=at - timedelta(minutes=2),
        seen_at=seen,
        **columns,
    )


def _limits(world: World) -> None:
    """A pause that is over, and two raises."""
    pause = pause_set(scope="repository", key="acme/api", reason="release freeze", actor="operator:ops-1")
    pause_lift(pause_id=pause.pk, actor="operator:ops-1", reason="shipped")
    budget_raise(scope="day", added=Amount(25_000_000), reason="the release cannot wait", actor="operator:ops-1")
    budget_raise(
        scope="subject", key=world.merged.subject, added=Amount(5_000_000), reason="a hard case", actor="operator:ops-1"
    )


def _worker(worker_id: str, at: datetime, seen: datetime, **columns: Any) -> None:
    Worker.objects.create(
        worker_id=worker_id,
        node="lab",
        host="lab.example.org",
        pid=4711,
        pool="main",
        slot=int(worker_id[-1], 16),
        version="0.1.0+7d1f2a9c",
        offer={
            "labels": LABELS,
            "adapters": ["command", "fake"],
            "anyAdapter": "command",
            "workspaceKinds": ["ephemeral", "worktree"],
            "repositories": ["*"],
        },
        health={
            "isolation": {"level": "process", "lacks": []},
            "adaptersMissing": {"claude": "cli_missing"},
            "disk": {"freeBytes": 212 * 2**30, "totalBytes": 512 * 2**30},
        },
        clock_skew_ms=-340,
        started_at=at - timedelta(hours=6),
        last_seen_at=seen,
        **columns,
    )


def _enqueued(pull: Any, **changes: Any) -> Run:
    spec = queue.step_spec(subject=pull.subject, branch=pull.head_ref, **changes)
    return run_enqueue(spec=spec, actor=f"flow:convergence:{pull.subject}", subject_label=pull.key).run


def _claimed(pull: Any, worker_id: str, **changes: Any) -> Attempt:
    _enqueued(pull, **changes)
    return queue.claim(worker_id)


def _completed(world: World, worker_id: str) -> Run:
    attempt = _claimed(world.merged, worker_id)
    queue.beat(attempt, "running", 1)
    _trace(attempt, clock_now() - timedelta(minutes=50), fails=False)
    artifact = {"status": "addressed", "summary": "Moved the retry into the client.\nSee https://example.org/a."}
    queue.publish(attempt, queue.completed_body(attempt, artifact))
    return attempt.run


def _ended(world: World, worker_id: str, body: Any) -> Run:
    attempt = _claimed(world.merged, worker_id)
    queue.beat(attempt, "running", 1)
    queue.publish(attempt, body(attempt))
    return attempt.run


def _failed(world: World, worker_id: str) -> tuple[Run, str]:
    attempt = _claimed(world.escalated, worker_id)
    queue.beat(attempt, "running", 1)
    _trace(attempt, clock_now() - timedelta(minutes=8), fails=True)
    sha256 = store(attempt, LOG)
    body = queue.failed_body(attempt, detail={"exitCode": 1, "tail": "FAILED test_retries_twice\nexpected 2, got 3"})
    body["artifactRefs"] = [
        {"kind": "console", "name": "console.log", "sha256": f"sha256:{sha256}", "sizeBytes": len(LOG)}
    ]
    queue.publish(attempt, body)
    return attempt.run, sha256


def _again(world: World, worker_id: str) -> Run:
    attempt = _claimed(world.waiting, worker_id, maxEnvironmentRetries=3)
    queue.publish(
        attempt,
        queue.failed_body(attempt, "workspace_provisioning_error", detail={"step": "clone", "tail": HOSTILE_LINE}),
    )
    Run.objects.filter(pk=attempt.run.pk).update(available_at=clock_now() + timedelta(minutes=2))
    return attempt.run


def _running(world: World, worker_id: str) -> Run:
    attempt = _claimed(world.waiting, worker_id)
    queue.beat(attempt, "running", 1, usage={"inputTokens": 48_210, "outputTokens": 1_902, "costUsd": 0.21})
    Attempt.objects.filter(pk=attempt.pk).update(heartbeat_due_at=clock_now() + timedelta(minutes=20))
    _trace(attempt, clock_now() - timedelta(minutes=3), fails=False)
    return attempt.run


def store(attempt: Attempt, content: bytes) -> str:
    """Store the bytes as an upload of the attempt; their bare SHA-256."""
    sha256 = hashlib.sha256(content).hexdigest()
    object_stored(io.BytesIO(content), size=len(content), sha256=sha256)
    artifact, _ = Artifact.objects.get_or_create(
        sha256=sha256, defaults={"size_bytes": len(content), "media_type": "text/plain", "stored_at": clock_now()}
    )
    artifact_grant(attempt, artifact)
    return sha256


def add_entry(attempt: Attempt, seq: int, kind: str, payload: dict[str, Any], at: datetime | None = None) -> None:
    """One row of a trace."""
    from runs.contract.canonical import canonical_bytes

    TraceRow.objects.create(
        attempt=attempt, seq=seq, at=at or clock_now(), kind=kind, payload_json=canonical_bytes(payload).decode()
    )


def _trace(attempt: Attempt, at: datetime, *, fails: bool) -> None:
    test = {"command": "pytest tests/upload_test.py -q"}
    failed = "1 failing: upload retries twice\nexpected 2, got 3"
    edit = {"path": "src/upload.py", "old": "limit = 3", "new": "limit = 2"}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("lifecycle", {"note": "session", "model": "strong"}),
        ("assistant_text", {"text": "The failing test imports a removed helper.\nI read the client first."}),
        ("tool_use", {"id": "t1", "name": "bash", "input": test}),
        ("tool_result", {"toolUseId": "t1", "isError": True, "content": failed, "durationMs": 41_200}),
        ("tool_use", {"id": "t2", "name": "edit", "input": edit}),
        ("tool_result", {"toolUseId": "t2", "isError": False, "content": "1 line changed", "durationMs": 100}),
        ("usage", {"inputTokens": 48_210, "outputTokens": 1_902, "costUsd": 0.21, "turns": 6}),
        ("assistant_text", {"text": HOSTILE_LINE}),
    ]
    if fails:
        rows.append(("lifecycle", {"note": "exit", "exitCode": 1, "signal": None}))
    for seq, (kind, payload) in enumerate(rows, start=1):
        add_entry(attempt, seq, kind, payload, at + timedelta(seconds=9 * seq))

"""A claimed run and every request that its worker may make about it."""

import base64
import hashlib
import uuid
from typing import Any

from runs.contract.canonical import document_hash
from runs.models import Run
from tests.db.workers.queue import CONTRACT, queued_run
from tests.db.workers.wire import Worker

EXECUTION = {
    "adapter": "command",
    "model": None,
    "exitCode": 0,
    "signal": None,
    "timedOut": False,
    "late": False,
    "durationMs": 1200,
    "usage": {"inputTokens": 100, "outputTokens": 10, "costUsd": 0.25},
}


class Job:
    """A claimed run whose worker uploads and publishes."""

    def __init__(self, worker: Worker, *, run: Run | None = None, **spec: Any) -> None:
        self.worker = worker
        self.run = run or queued_run(**spec)
        self.claim = worker.claim().json()["claim"]
        self.run_id = self.claim["runId"]

    def completed(self, refs=(), **changes):
        artifact = {"verdict": "FLAKE"}
        document = {
            "schemaVersion": "factory.run-result/v1",
            "runId": self.run_id,
            "attempt": self.claim["attempt"],
            "terminalState": "completed",
            "reasonCode": "ok",
            "outputContract": CONTRACT,
            "artifact": artifact,
            "artifactHash": document_hash(artifact),
            "evidence": None,
            "evidenceHash": None,
            "verification": {"status": "passed", "checks": ["form", "output_schema"]},
            "artifacts": list(refs),
        }
        document |= changes
        return self._body("completed", "ok", refs) | {"result": document}

    def failed(self, reason="agent_exit", **changes):
        return self._body("failed", reason, ()) | {"detail": {"exitCode": 1}, "retryAt": None} | changes

    def beat(self, sequence, phase, **changes):
        body = {
            "attempt": self.claim["attempt"],
            "fencingToken": self.claim["fencingToken"],
            "sequence": sequence,
            "phase": phase,
            "waitSeconds": 0,
        }
        return self.worker.post(f"/worker/v1/runs/{self.run_id}/heartbeat", {**body, **changes})

    def trace(self, *seqs, **changes):
        rows = [
            {"seq": seq, "at": "2026-08-30T12:31:20.300Z", "kind": "assistant_text", "payload": {"text": "x"}}
            for seq in seqs
        ]
        body = {"attempt": self.claim["attempt"], "fencingToken": self.claim["fencingToken"], "rows": rows}
        return self.worker.post(f"/worker/v1/runs/{self.run_id}/trace", {**body, **changes})

    def _body(self, state, reason, refs):
        return {
            "attempt": self.claim["attempt"],
            "fencingToken": self.claim["fencingToken"],
            "terminalState": state,
            "reasonCode": reason,
            "artifactRefs": list(refs),
            "execution": EXECUTION,
        }

    def publish(self, body, key=None):
        return self.worker.post(f"/worker/v1/runs/{self.run_id}/result", body, key=key or str(uuid.uuid4()))

    def upload(self, content=b"hello\n", **changes):
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        headers = {
            "Authorization": f"Bearer {self.worker.secret}",
            "X-Worker-Id": self.worker.worker_id,
            "X-Run-Id": self.run_id,
            "X-Attempt": str(self.claim["attempt"]),
            "X-Fencing-Token": self.claim["fencingToken"],
            "Digest": f"sha-256={digest}",
        }
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        return self.worker.client.post("/artifacts", content, content_type="text/plain", headers=headers)

    def state(self):
        return Run.objects.get(pk=self.run.pk).state


def ref(content=b"hello\n", kind="file", name="hello.txt", **changes):
    found = {
        "kind": kind,
        "name": name,
        "sha256": "sha256:" + hashlib.sha256(content).hexdigest(),
        "sizeBytes": len(content),
    }
    return found | changes

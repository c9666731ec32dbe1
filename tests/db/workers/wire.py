"""What tests of the worker protocol share: a node with a token, and a client that speaks as its worker."""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from workers.allowances import Allowances
from workers.services.credentials import credential_issue

OFFER = {
    "labels": {"arch": "arm64", "isolation": "none"},
    "adapters": ["command"],
    "anyAdapter": "command",
    "adapterOverride": None,
    "workspaceKinds": ["artifacts", "ephemeral"],
    "repositories": [],
}
CLAIM = {
    "protocolVersion": 1,
    "workerVersion": "0.1.0+9f3c1a2b",
    "specVersions": ["factory.run-spec/v1"],
    **OFFER,
    "waitSeconds": 0,
}
HELLO = {
    "protocolVersion": 1,
    "workerVersion": "0.1.0+9f3c1a2b",
    "host": "build-7",
    "pid": 4711,
    "specVersions": ["factory.run-spec/v1"],
    **OFFER,
    "pool": "main",
    "slot": 2,
    "quarantined": 0,
    "blockedReason": None,
}
POOL = {
    "protocolVersion": 1,
    "pool": "main",
    "supervisorVersion": "0.1.0+9f3c1a2b",
    "host": "build-7",
    "min": 1,
    "max": 3,
    "stopping": False,
    "offer": OFFER,
    "workers": [],
    "decision": {"action": "hold", "reason": "steady"},
}


@dataclass
class Worker:
    """One boot of a worker that talks to the server through Django's test client."""

    node: str
    secret: str
    boot: str = "20260830T121502Z.9f3c1a"
    over_tls: bool = False
    client: Client = field(default_factory=lambda: Client(raise_request_exception=True))

    @property
    def worker_id(self) -> str:
        return f"{self.node}.{self.boot}"

    def post(self, path: str, body: Any, *, key: str | None = None, **headers: str) -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        stated = {"Authorization": f"Bearer {self.secret}", "X-Worker-Id": self.worker_id}
        if key is not None:
            stated["Idempotency-Key"] = key
        stated |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in stated.items() if value}
        return self.client.post(path, content, content_type="application/json", headers=sent, secure=self.over_tls)

    def get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.secret}", "X-Worker-Id": self.worker_id}
        return self.client.get(path, headers=headers)

    def hello(self, **changes: Any) -> Any:
        return self.post("/worker/v1/hello", {**HELLO, **changes})

    def claim(self, *, key: str | None = None, **changes: Any) -> Any:
        return self.post("/worker/v1/claim", {**CLAIM, **changes}, key=key or str(uuid.uuid4()))

    def pool(self, **changes: Any) -> Any:
        return self.post("/worker/v1/pool", {**POOL, **changes}, **{"X-Worker-Id": ""})


def worker_on(node: str = "lab", **lists: Any) -> Worker:
    """A worker of a fresh node with these allow-lists."""
    issued = credential_issue(node=node, allowed=Allowances(**lists), life=None, actor="operator:test")
    return Worker(node, issued.secret)


def code(response: Any) -> str:
    """The error code of an answer that has the protocol's form."""
    body = json.loads(response.content)
    assert body["schemaVersion"] == "factory.worker-api/v1"
    assert set(body["error"]) == {"code", "message", "retryable", "details"}
    return str(body["error"]["code"])

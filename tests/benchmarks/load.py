"""A load client: `python -m tests.benchmarks.load URL TOKEN NODE NUMBER PAIRS` claims and publishes as a worker does.

It says that it is ready, waits for a line on its standard input, and prints the instants of its first and last pair.
"""

import http.client
import json
import sys
import time
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

EMPTY_HASH = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # of {}
CLAIM = {
    "protocolVersion": 1,
    "workerVersion": "0.1.0+00000000",
    "specVersions": ["factory.run-spec/v1"],
    "labels": {"arch": "x86_64", "os": "linux", "isolation": "none"},
    "adapters": ["command", "fake"],
    "anyAdapter": "fake",
    "adapterOverride": None,
    "workspaceKinds": ["ephemeral", "worktree"],
    "repositories": ["*"],
    "waitSeconds": 0,
}


class LoadClient:
    """One worker of a node, over one connection."""

    def __init__(self, url: str, token: str, node: str, number: int) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "X-Worker-Id": f"{node}.20260101T000000Z.{number:06x}",
            "Content-Type": "application/json",
        }

    def pair(self) -> None:
        """Claim one run and publish its result."""
        claim = self.claim()
        assert claim is not None, "nothing is queued"
        self.publish(claim)

    def claim(self, **changes: Any) -> dict[str, Any] | None:
        """The claimed run, or None."""
        found: dict[str, Any] | None = self._post("/worker/v1/claim", {**CLAIM, **changes})["claim"]
        return found

    def publish(self, claim: dict[str, Any]) -> None:
        """A completed result with an empty artifact."""
        self._post(f"/worker/v1/runs/{claim['runId']}/result", result_body(claim))

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {**self._headers, "Idempotency-Key": str(uuid.uuid4())}
        self._connection.request("POST", path, json.dumps(body).encode(), headers)
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, f"{path}: {answer.status} {content!r}"
        return json.loads(content)


def result_body(claim: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a completed result with an empty artifact."""
    outcome = {"terminalState": "completed", "reasonCode": "ok"}
    result = {
        "schemaVersion": "factory.run-result/v1",
        "runId": claim["runId"],
        "attempt": claim["attempt"],
        **outcome,
        "outputContract": "factory.bench/v1",
        "artifact": {},
        "artifactHash": EMPTY_HASH,
        "evidence": None,
        "evidenceHash": None,
        "verification": {"status": "passed", "checks": ["form"]},
        "artifacts": [],
    }
    return {
        "attempt": claim["attempt"],
        "fencingToken": claim["fencingToken"],
        **outcome,
        "result": result,
        "artifactRefs": [],
        "execution": {
            "adapter": "fake",
            "timedOut": False,
            "late": False,
            "durationMs": 1,
            "usage": {"inputTokens": 1000, "outputTokens": 100, "costUsd": 0.01},
        },
    }


def main(url: str, token: str, node: str, number: str, pairs: str) -> None:
    client = LoadClient(url, token, node, int(number))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    begun = time.monotonic()
    for _ in range(int(pairs)):
        client.pair()
    sys.stdout.write(json.dumps([begun, time.monotonic()]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

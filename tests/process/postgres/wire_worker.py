"""A worker as the protocol's other side sees it: claims, publishes, and repeats under the same key until answered."""

import threading
import time
import uuid
from typing import Any

import requests

from runs.contract.canonical import document_hash
from tests.db.workers.jobs import EXECUTION
from tests.db.workers.queue import CONTRACT
from tests.db.workers.wire import CLAIM

PATIENCE = 120.0  # seconds until a request that is never answered fails its test
PAUSE = 0.1  # seconds between two tries
UNANSWERED = {429, 500, 502, 503}


class WireWorker:
    """One boot; its token is that of the served node."""

    def __init__(self, credential: dict[str, Any], number: int) -> None:
        self.url = credential["url"]
        self.headers = {
            "Authorization": f"Bearer {credential['token']}",
            "X-Worker-Id": f"{credential['node']}.20260830T121502Z.{number:06x}",
        }
        self.session = requests.Session()
        self.faults: list[str] = []  # what came instead of an answer

    def until_answered(self, path: str, body: dict[str, Any]) -> requests.Response:
        """Repeat the request with one key, as a worker has to, until there is a definite answer."""
        headers = {**self.headers, "Idempotency-Key": str(uuid.uuid4())}
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            try:
                answer = self.session.post(self.url + path, json=body, headers=headers, timeout=60)
            except requests.RequestException as error:
                self.faults.append(type(error).__name__)
            else:
                if answer.status_code not in UNANSWERED:
                    return answer
                self.faults.append(str(answer.status_code))
            time.sleep(PAUSE)
        raise AssertionError(f"{path}: never answered, but {self.faults[-5:]}")

    def claim(self, wait: float = 0.0) -> Any:
        answer = self.until_answered("/worker/v1/claim", {**CLAIM, "waitSeconds": wait})
        assert answer.status_code == 200, answer.text
        return answer.json()["claim"]

    def publish(self, claim: dict[str, Any]) -> requests.Response:
        return self.until_answered(f"/worker/v1/runs/{claim['runId']}/result", completed(claim))

    def drain(self, accepted: list[str], progress: threading.Semaphore) -> None:
        """Work until the queue is empty; note each run whose result was accepted."""
        while claim := self.claim():
            answer = self.publish(claim)
            assert answer.status_code == 200, answer.text
            accepted.append(claim["runId"])
            progress.release()


def completed(claim: dict[str, Any]) -> dict[str, Any]:
    """The submission of a sound result."""
    artifact = {"verdict": "FLAKE"}
    return {
        "attempt": claim["attempt"],
        "fencingToken": claim["fencingToken"],
        "terminalState": "completed",
        "reasonCode": "ok",
        "artifactRefs": [],
        "execution": EXECUTION,
        "result": {
            "schemaVersion": "factory.run-result/v1",
            "runId": claim["runId"],
            "attempt": claim["attempt"],
            "terminalState": "completed",
            "reasonCode": "ok",
            "outputContract": CONTRACT,
            "artifact": artifact,
            "artifactHash": document_hash(artifact),
            "evidence": None,
            "evidenceHash": None,
            "verification": {"status": "passed", "checks": ["form", "output_schema"]},
            "artifacts": [],
        },
    }

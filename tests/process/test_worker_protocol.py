import base64
import stat
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.process.serving import Served

OFFER = {
    "protocolVersion": 1,
    "workerVersion": "0.1.0+9f3c1a2b",
    "specVersions": ["factory.run-spec/v1"],
    "labels": {},
    "adapters": ["command"],
    "anyAdapter": "command",
    "adapterOverride": None,
    "workspaceKinds": ["ephemeral", "worktree"],
    "repositories": ["*"],
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    running = Served(tmp_path_factory.mktemp("wire") / "home")
    try:
        running.wait_until_up()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


class Worker:
    def __init__(self, served):
        credential = served.credential
        self.url = credential["url"]
        self.headers = {
            "Authorization": f"Bearer {credential['token']}",
            "X-Worker-Id": "local.20260830T121502Z.9f3c1a",
        }

    def post(self, path, **request):
        headers = {**self.headers, **request.pop("headers", {})}
        return requests.post(f"{self.url}{path}", headers=headers, timeout=60, **request)

    def claim(self, wait):
        body = {**OFFER, "waitSeconds": wait}
        return self.post("/worker/v1/claim", json=body, headers={"Idempotency-Key": str(uuid.uuid4())})


def test_the_first_start_makes_a_credential_that_only_its_owner_reads_and_that_claims(served):
    assert stat.S_IMODE(served.credential_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(served.credential_path.parent.stat().st_mode) == 0o700
    worker = Worker(served)
    hello = worker.post("/worker/v1/hello", json={**OFFER, "host": "h", "pid": 1})
    assert (hello.status_code, hello.json()["node"]) == (200, "local")
    assert worker.claim(0).json()["reason"] == "none_ready"


def test_a_worker_token_and_a_persons_token_do_not_open_each_others_doors(served):
    """WP-H2 the worker's token is refused by the API."""
    worker = Worker(served)
    for path in ("/api/v1/runs", "/api/v1/workers", "/api/v1/status", "/metrics"):
        answer = requests.get(f"{worker.url}{path}", headers=worker.headers, timeout=30, allow_redirects=False)
        assert answer.status_code != 200, path


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/worker/v1/runs/run_0/result", {"Idempotency-Key": str(uuid.uuid4())}, 413, "too_large"),
        ("/artifacts", {}, 400, "malformed"),
        (
            "/artifacts",
            {
                "X-Run-Id": "run_00000000000000000000000000",
                "X-Attempt": "1",
                "X-Fencing-Token": "1",
                "X-Artifact-Kind": "log",
                "Digest": f"sha-256={base64.b64encode(bytes(32)).decode()}",
            },
            404,
            "not_found",
        ),
    ],
)
def test_a_large_body_that_is_refused_unread_still_gets_its_answer(served, path, headers, status, code):
    answer = Worker(served).post(path, data=b"x" * 8 * 1024 * 1024, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_chunked_upload_is_refused(served):
    answer = Worker(served).post("/artifacts", data=iter([b"abc", b"def"]))
    assert (answer.status_code, answer.json()["error"]["code"]) == (411, "length_required")


def test_the_token_is_in_no_log_and_no_argv(served):
    """WP-H10 the server's side: neither its output nor its command lines hold the token."""
    worker = Worker(served)
    worker.claim(0)
    worker.post("/worker/v1/nowhere", json={})
    token = served.credential["token"]
    assert token not in served.log.read_text()
    for path in served.home.rglob("*"):
        if path.is_file() and path != served.credential_path:
            assert token.encode() not in path.read_bytes(), path


def test_a_shutdown_answers_the_claims_that_wait(tmp_path):
    running = Served(tmp_path / "home")
    try:
        running.wait_until_up()
        worker = Worker(running)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(worker.claim, 25)
            running.until(running.workers, "the claim has arrived")
            assert running.stop() == 0
            answer = waiting.result(30).json()
        assert (answer["claim"], answer["reason"]) == (None, "stopping")
    finally:
        if running.process.poll() is None:
            running.process.kill()

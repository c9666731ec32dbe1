import gc
import threading
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
import requests
from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper

from runs.policy import policy_forget
from runs.queue.wakeup import WATCHER
from tests.db.workers.wire import CLAIM, HELLO, worker_on
from workers.wire import limits
from workers.wire.waiting import WAITING

PATIENCE = 10.0  # seconds that a fact may take; far below the 25 that a claim is held


def until(fact, what):
    """Wait for a fact, a bounded time."""
    ends = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < ends, f"never happened: {what}"
        time.sleep(0.01)


class Remote:
    """A worker that speaks to a served address, each request on a connection of its own."""

    def __init__(self, url, node, secret, boot="20260830T121502Z.9f3c1a"):
        self.url = url
        self.worker_id = f"{node}.{boot}"
        self.secret = secret

    def post(self, path, body, *, key=None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.secret}", "X-Worker-Id": self.worker_id}
        if key:
            headers["Idempotency-Key"] = key
        return requests.post(f"{self.url}{path}", json=body, headers=headers, timeout=60)

    def hello(self):
        return self.post("/worker/v1/hello", HELLO)

    def claim(self, *, wait=0.0, key=None) -> dict[str, Any]:
        answer = self.post("/worker/v1/claim", {**CLAIM, "waitSeconds": wait}, key=key or str(uuid.uuid4()))
        return {"status": answer.status_code, **answer.json()}

    def beat(self, claim, sequence, *, phase="running", wait=0.0) -> dict[str, Any]:
        body = {
            "attempt": claim["attempt"],
            "fencingToken": claim["fencingToken"],
            "sequence": sequence,
            "phase": phase,
            "waitSeconds": wait,
        }
        answer = self.post(f"/worker/v1/runs/{claim['runId']}/heartbeat", body)
        return {"status": answer.status_code, **answer.json()}


class Background:
    """Requests that run beside the test; every answer is read, so no failure is lost."""

    def __init__(self):
        self._pool = ThreadPoolExecutor(max_workers=16)

    def start(self, call, *arguments, **options) -> "Future[Any]":
        return self._pool.submit(call, *arguments, **options)

    def close(self):
        self._pool.shutdown(wait=True)


@pytest.fixture
def background():
    made = Background()
    yield made
    WAITING.stop_all()
    made.close()
    WAITING.open_again()
    until(lambda: WATCHER.held_count() == 0 and WAITING.count() == 0, "every held request has ended")
    until(lambda: not any(thread.name == "wake-up" for thread in threading.enumerate()), "the watcher has ended")


@pytest.fixture
def serving(transactional_db, live_server, background):  # noqa: ARG001 -- held requests end before the server does
    """The address of a threaded server on the test's database."""
    for limit in (limits.request_rate, limits.bad_tokens):
        limit.clear()
    return live_server.url


@pytest.fixture
def remote(serving):
    def on(node, boot="20260830T121502Z.9f3c1a"):
        return Remote(serving, node, worker_on(node).secret, boot)

    return on


@pytest.fixture
def slots():
    """Set how many requests a process holds, through the operators' file."""
    path = settings.FACTORY.home / "policy.yaml"

    def set_to(count):
        path.write_text(f"web: {{waitSlots: {count}}}\n")
        policy_forget()

    yield set_to
    path.unlink(missing_ok=True)
    policy_forget()


@pytest.fixture
def database_connections():
    """How many connections the threads of this process have open now, this thread's among them."""

    def count():
        wrappers = [each for each in gc.get_objects() if issubclass(type(each), BaseDatabaseWrapper)]
        return sum(each.connection is not None for each in wrappers)

    return count

"""A process that SIGKILL does not end: who waits for its end says so, and goes on when it has ended."""

import json
import os
import queue
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from runs.contract.instants import format_instant
from runs.contract.wire import check_request
from workers.host.adapters.registry import AdapterRegistry
from workers.host.client import Answer, Unreachable
from workers.host.disk.boots import Boot, Holding
from workers.host.host import Host
from workers.host.host_config import HostConfig
from workers.host.loop import Worker
from workers.host.options import Options
from workers.host.pool.decision import Action, Decision
from workers.host.pool.leftovers import Burial
from workers.host.pool.report import Question, Reporter
from workers.host.pool.timers import CrashBackoff
from workers.host.process import ending
from workers.host.process.identity import ProcessId, identify, send_signal
from workers.host.process.survivors import survivors
from workers.host.settings import load_settings
from workers.host.signals import Signals
from workers.host.vigil import Vigil

FREEZER = Path("/sys/fs/cgroup/freezer")
OFFER: dict[str, Any] = {
    "workerVersion": "0.1.0",
    "labels": {},
    "adapters": [],
    "anyAdapter": None,
    "adapterOverride": None,
    "workspaceKinds": [],
    "repositories": [],
}
DEAD = ProcessId(4711, "another boot:1")
RUN = "run_01J9Z3K4M5N6P7Q8R9S0T1V2W3"
WAIT = 20  # seconds until a fact that never comes fails its test


class Deathless(NamedTuple):
    process: ProcessId
    release: Callable[[], None]


def frozen():
    """It hangs in the kernel, as one does whose disk or network file system has gone away."""
    if not os.access(FREEZER / "tasks", os.W_OK):
        pytest.skip("this machine has no freezer of control groups that this user may use")
    group = FREEZER / f"factory-test-{secrets.token_hex(4)}"
    group.mkdir()
    return group


@pytest.fixture(params=["frozen", "pretended"])
def deathless(request, monkeypatch):
    """A process of its own group that SIGKILL does not end until it is released."""
    monkeypatch.setattr(ending, "UNKILLABLE_EVERY", 0.0)
    group = frozen() if request.param == "frozen" else None
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    process = identify(child.pid)
    assert process is not None
    real = send_signal
    if group:
        (group / "cgroup.procs").write_text(str(child.pid))
        (group / "freezer.state").write_text("FROZEN")
    else:
        monkeypatch.setattr(ending, "send_signal", lambda victim, _: victim != process)

    def release():
        if group:
            (group / "freezer.state").write_text("THAWED")
        else:
            monkeypatch.setattr(ending, "send_signal", real)

    try:
        yield Deathless(process, release)
    finally:
        release()
        child.kill()
        child.wait(WAIT)
        if group:
            group.rmdir()


def left_behind(home, process):
    """The boot of a worker that died while this process was its agent."""
    boot = Boot(home, "lab.20260830T121502Z.000001")
    held = Holding(RUN, 1, "7", boot.worker_id, "running", str(home / "workspaces" / "x"), agent=process)
    boot.hold(held, durable=False)
    (boot.folder / "boot.json").write_text(json.dumps({"workerId": boot.worker_id, **asdict(DEAD)}))


class Heard:
    """A control plane that notes what it hears."""

    url = "http://127.0.0.1:8090"

    def __init__(self):
        self.worker_id = "lab.20260830T121502Z.000002"
        self.credentials = SimpleNamespace(current=SimpleNamespace(token="fwk_of_the_test"), reread=lambda **_: None)
        self.bodies: queue.Queue[dict[str, Any]] = queue.Queue()
        self.away = 1

    def post(self, path, body, **_):
        if self.away:
            self.away -= 1
            raise Unreachable("not there yet")
        if path != "/worker/v1/bye":
            check_request(path.rpartition("/")[2], body)
            self.bodies.put(body)
        counts = {"claimable": 0, "idle": 0, "busy": 0, "draining": 0, "lost": 0, "min": 0, "max": 1, "workers": []}
        at = format_instant(datetime.now(UTC))
        return Answer({"schemaVersion": "factory.worker-api/v1", "serverTime": at, **counts}, b"", 0.0)

    def until(self, fact):
        """The first body of which this is true."""
        while not fact(body := self.bodies.get(timeout=WAIT)):
            pass
        return body


def host_of(home, client):
    tokens: Any = SimpleNamespace(token=lambda: SimpleNamespace(value="ghp_of_the_test"), has_token=bool)
    documents: Any = None
    return Host(
        settings=load_settings({}),
        options=Options(),
        config=HostConfig(min_free_gb=0),
        home=home,
        client=client,
        boot=Boot(home, client.worker_id),
        documents=documents,
        registry=AdapterRegistry(),
        tokens=tokens,
        signals=Signals(),
        version="0.1.0+00000000",
    )


def test_a_worker_that_waits_for_a_process_that_cannot_be_killed_says_so_until_it_has_ended(deathless, tmp_path):
    """PO-S20: unkillable_process. The worker adopts what a dead one left; its own attempts end by the same routine."""
    for name in ("workspaces", "salvage"):
        (tmp_path / name).mkdir()
    left_behind(tmp_path, deathless.process)
    client: Any = Heard()
    host = host_of(tmp_path, client)
    worker = threading.Thread(target=Worker(host).run, daemon=True)
    worker.start()
    said = client.until(lambda body: body["health"]["unkillable"])
    assert said["health"]["unkillable"] == [deathless.process.pid]
    assert said["blockedReason"] == "unkillable_process"
    assert worker.is_alive()
    assert survivors() == [deathless.process.pid]
    host.signals.count = 1  # so that it leaves at its next safe point
    deathless.release()
    worker.join(WAIT)
    assert not worker.is_alive()
    assert survivors() == []


def test_a_supervisor_reports_what_cannot_be_killed_of_a_dead_worker(deathless, tmp_path):
    """PO-S20: unkillable_process"""
    left_behind(tmp_path, deathless.process)
    burial = Burial(tmp_path, DEAD)
    client: Any = Heard()
    client.away = 0
    offering: Any = SimpleNamespace(claim=lambda: OFFER)
    reporter = Reporter(client, offering, "main")
    question = Question((0, 1), [], Decision(Action.HOLD, "steady"), CrashBackoff())

    def reported():
        reporter.ask(question, lambda: None, WAIT)
        return client.bodies.get(timeout=WAIT)["unkillable"]

    while not (pids := reported()):
        pass
    assert pids == [deathless.process.pid]
    assert not burial.over
    deathless.release()
    while reported():
        pass


def test_it_is_said_until_it_is_heard_again_and_again_and_once_more_at_the_end(monkeypatch):
    said: queue.Queue[list[int]] = queue.Queue()
    found, heard = [4711], iter([False])

    def greet():
        said.put(list(found))
        return next(heard, True)

    monkeypatch.setattr("workers.host.vigil.survivors", lambda: list(found))
    vigil = Vigil(greet, look=0.001, again=0.002)
    try:
        assert [said.get(timeout=WAIT) for _ in range(4)] == [[4711]] * 4
        found.clear()
        while said.get(timeout=WAIT):
            pass
    finally:
        vigil.close()

"""The simulated GitHub as a process: one line of addresses, control routes, and an end with its parent."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

ROOT = Path(__file__).parents[3]
BOUNDED_SECONDS = 20


class Process:
    """A running simulator and its control routes."""

    def __init__(self, folder: Path, *args: str) -> None:
        reader, self.parent = os.pipe()
        argv = [sys.executable, "-m", "fixtures.simulator", "--dir", str(folder), "--parent-fd", str(reader), *args]
        self.child = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, pass_fds=(reader,))
        os.close(reader)
        assert self.child.stdout is not None
        self.line = json.loads(self.child.stdout.readline())

    def end(self) -> None:
        """Leave neither process nor file open."""
        self.child.kill()
        self.child.wait()
        if self.child.stdout:
            self.child.stdout.close()
        if self.parent >= 0:
            os.close(self.parent)

    def control(self, path: str, body: Any = None, token: str | None = None) -> requests.Response:
        """Call a control route."""
        headers = {"Authorization": f"Bearer {token or self.line['controlToken']}"}
        method = "GET" if body is None else "POST"
        url = f"{self.line['serverUrl']}/_sim/{path}"
        return requests.request(method, url, json=body, headers=headers, timeout=BOUNDED_SECONDS)

    def verb(self, name: str, **arguments: Any) -> Any:
        """Say a verb and return its result."""
        answer = self.control(f"verbs/{name}", arguments)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    scenario = tmp_path / "scenario.yaml"
    files = {"a.txt": "one\n"}
    pulls = [{"repo": "acme/shop", "branch": "feat/a", "title": "A", "files": {"a.txt": "two\n"}, "expect": "merged"}]
    scenario.write_text(yaml.safe_dump({"repositories": [{"name": "acme/shop", "files": files}], "pulls": pulls}))
    running = Process(tmp_path / "world", "--scenario", str(scenario))
    yield running
    running.end()


def test_a_process_plays_its_scenario_and_is_steered_by_control_routes(process: Process) -> None:
    assert set(process.line) == {"apiUrl", "graphqlUrl", "serverUrl", "token", "controlToken"}
    state = process.control("state").json()
    assert state["scenario"]["pulls"][0]["key"] == "acme/shop#1"
    assert state["repositories"]["acme/shop"]["pulls"]["1"]["state"] == "OPEN"
    for token in ("wrong", process.line["token"]):
        assert process.control("state", token=token).status_code == 401

    sha = process.verb("push", repo="acme/shop", branch="feat/a", files={"b.txt": "b\n"})
    assert process.control("state").json()["repositories"]["acme/shop"]["branches"]["feat/a"] == sha
    assert process.verb("comment", subject="acme/shop#1", text="Hello.")["id"]
    assert process.control("verbs/nonsense", {}).status_code == 400
    assert process.control("clock", {"advance": 5}).status_code == 400

    process.control("faults", {"name": "fail_next", "op": "get_repository", "status": 502})
    process.control(
        "faults", {"name": "race", "op": "get_user", "then": {"verb": "add_user", "args": {"login": "ann"}}}
    )
    headers = {"Authorization": f"Bearer {process.line['token']}", "User-Agent": "test"}
    for path, status in (("/repos/acme/shop", 502), ("/repos/acme/shop", 200), ("/user", 200), ("/nothing", 404)):
        assert requests.get(process.line["apiUrl"] + path, headers=headers, timeout=10).status_code == status
    assert [f["struck"] for f in process.control("faults").json()["faults"]] == [1, 1]
    assert process.control("log").json()["counts"] == {"get_repository": 2, "get_user": 1, "unknown": 1}
    assert process.control("leftovers").json()["leftovers"] == ["unknown route asked: GET /api/v3/nothing"]


def test_a_process_ends_with_its_parents_pipe(process: Process) -> None:
    os.close(process.parent)
    process.parent = -1
    assert process.child.wait(timeout=BOUNDED_SECONDS) == 0


def test_a_process_ends_when_its_parent_was_killed_and_left_no_pipe(tmp_path: Path) -> None:
    """The parent prints the child's number and is killed; the pipe of the child's output says when it has ended."""
    child = [sys.executable, "-m", "fixtures.simulator", "--dir", str(tmp_path / "world")]
    source = f"import subprocess, time; print(subprocess.Popen({child!r}).pid, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", source], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert int(parent.stdout.readline())
        assert "apiUrl" in parent.stdout.readline()
        parent.kill()
        assert select.select([parent.stdout], [], [], BOUNDED_SECONDS)[0]
        assert parent.stdout.read() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_on_a_signal(process: Process, number: signal.Signals) -> None:
    process.child.send_signal(number)
    assert process.child.wait(timeout=BOUNDED_SECONDS) == 0


def test_a_scenario_that_cannot_be_read_is_named_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text("colour: red\n")
    argv = [sys.executable, "-m", "fixtures.simulator", "--dir", str(tmp_path / "world"), "--scenario", str(path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=BOUNDED_SECONDS, check=False)
    assert done.returncode == 2
    assert "unknown key colour" in done.stderr
    assert "Traceback" not in done.stderr

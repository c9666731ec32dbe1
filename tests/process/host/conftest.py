"""A control plane, and workers as real processes on a throw-away data folder."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.process.host.control_plane import TOKEN, ControlPlane

ROOT = Path(__file__).resolve().parents[3]


PREAMBLE = """
import json, os, signal, subprocess, sys, time
from pathlib import Path
job = json.load(sys.stdin)
result = Path(os.environ["AGENT_RESULT_FILE"])
"""


class Machine:
    """One node: a data folder, a credential, and the workers that a test starts."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.home = folder / "worker"
        self.url = url
        self.credential = folder / "secrets" / "worker-local.json"
        self.credential.parent.mkdir(parents=True)
        self.write_credential(TOKEN)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.environment: dict[str, str] = {}

    def write_credential(self, token, mode=0o600):
        document = {"schemaVersion": "factory.worker-credential/v1", "node": "lab", "url": self.url, "token": token}
        self.credential.unlink(missing_ok=True)
        self.credential.write_text(json.dumps(document))
        self.credential.chmod(mode)

    def work(self, *flags, python=()):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        argv = [sys.executable, *python, "-m", "workers.host", "--poll-ms", "25", *flags]
        return self.start(argv, {**kept, "FACTORY_HOME": str(self.folder), "PYTHONPATH": str(ROOT), **self.environment})

    def start(self, argv, environment):
        with (self.folder / f"work-{len(self.workers)}.log").open("wb") as log:
            worker = subprocess.Popen(argv, cwd=self.folder, env=environment, stderr=log, stdout=log)
        self.workers.append(worker)
        return worker

    def log(self, number=-1):
        number = number % len(self.workers)
        return (self.folder / f"work-{number}.log").read_text()

    def agent(self, source):
        """A Python program as the worker's --command."""
        path = self.folder / f"agent-{len(list(self.folder.glob('agent-*')))}.py"
        path.write_text(PREAMBLE + source)
        return f"--command={sys.executable} {path}"

    def stop(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.send_signal(signal.SIGKILL)
            worker.wait()


@pytest.fixture
def plane():
    made = ControlPlane()
    yield made
    made.close()


@pytest.fixture
def machine(tmp_path, plane):
    made = Machine(tmp_path / "data", plane.url)
    yield made
    made.stop()


def alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition, seconds=10.0, what=""):
    """The value of a condition once it is true."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    message = f"not true within {seconds} s: {what}"
    raise AssertionError(message)

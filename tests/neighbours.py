"""Two releases against each other: the worker of one executes the runs of the other's server, in both directions.

`python -m tests.neighbours --ref v0.1.0 [--runs 100]` unpacks that commit beside this checkout, and lets its worker
execute runs of this server, then this worker runs of its server. Exit code 1 when a run does not complete.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any, Self

import requests

from tests.process.system import PROJECT, free_port
from tests.reader_agent import INPUT, OUTPUT, READER

START_SECONDS = 600.0  # an older checkout makes its own environment first
RUN_SECONDS = 10.0  # of one run, generously
AGENT = """
import json, os
with open(os.environ["AGENT_INPUT_FILE"]) as asked:
    log = json.load(asked)["variables"]["log"]
with open(os.environ["AGENT_RESULT_FILE"], "w") as result:
    json.dump({"verdict": log}, result)
"""


def unpacked(ref: str, folder: Path) -> Path:
    """The tree of the commit below the folder."""
    archive = subprocess.run(["git", "archive", ref], cwd=PROJECT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
        tree.extractall(folder, filter="data")
    return folder


class Pair:
    """The server of one checkout and a worker of another, on a data folder of their own; ended on exit."""

    def __init__(self, server: Path, worker: Path, folder: Path) -> None:
        self.server, self.worker, self.folder = server, worker, folder
        self.home = folder / "home"
        self.url = f"http://127.0.0.1:{free_port()}"
        self.children: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        registry = self.home / "registry"
        for name in ("agents", "prompts", "schemas"):
            (registry / name).mkdir(parents=True)
        self.home.chmod(0o700)
        (registry / "agents" / "log-reader.yaml").write_text(json.dumps(READER))
        (registry / "prompts" / "log-reader.md").write_text("Write to AGENT_RESULT_FILE.")
        (registry / "schemas" / "log-reader.input.json").write_text(json.dumps(INPUT))
        (registry / "schemas" / "log-reader.output.json").write_text(json.dumps(OUTPUT))
        (self.folder / "agent.py").write_text(AGENT)
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        self._start(self.server, "serve", "--port", self.url.rpartition(":")[2])
        self._wait("answer of /health", lambda: requests.get(f"{self.url}/health", timeout=5).ok)
        agent = shlex.join([sys.executable, str(self.folder / "agent.py")])
        credential = self.home / "secrets" / "worker-local.json"
        flags = ["--worker-home", str(self.folder / "worker"), "--isolation", "none", "--command", agent]
        self._start(self.worker, "work", "--url", self.url, "--credential-file", str(credential), *flags)

    def __exit__(self, *_: object) -> None:
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            child.wait(60)

    def runs(self, count: int) -> dict[str, int]:
        """Start so many runs and wait for their ends; how many are in each state then."""
        token = json.loads((self.home / "admin.json").read_text())["token"]
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token}"
        for number in range(count):
            body = {"agent": "log-reader@1", "input": {"log": str(number)}}
            session.post(f"{self.url}/api/v1/runs", json=body, timeout=15).raise_for_status()
        states: dict[str, int] = {}
        with contextlib.suppress(TimeoutError):
            self._wait("end of every run", lambda: self._ended(session, count, states), count * RUN_SECONDS)
        return states

    def _ended(self, session: requests.Session, count: int, states: dict[str, int]) -> bool:
        found: list[dict[str, Any]] = []
        cursor = ""
        while len(found) < count:
            answer = session.get(f"{self.url}/api/v1/runs?limit=200{cursor}", timeout=15).json()
            found += answer["items"]
            if not answer["nextBefore"]:
                break
            cursor = f"&before={answer['nextBefore']}"
        states.clear()
        for row in found:
            states[row["state"]] = states.get(row["state"], 0) + 1
        return all(row["endedAt"] for row in found)

    def _start(self, checkout: Path, *argv: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "FACTORY_HOME": str(self.home)}
        with (self.folder / f"{argv[0]}.log").open("wb") as log:
            self.children.append(
                subprocess.Popen(
                    [sys.executable, "manage.py", *argv],
                    cwd=checkout,
                    env=environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _wait(self, what: str, fact: Any, seconds: float = START_SECONDS) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with contextlib.suppress(requests.RequestException):
                if fact():
                    return
            time.sleep(0.2)
        raise TimeoutError(f"in {seconds:.0f} s there was no {what}; see {self.folder}")


def main() -> int:
    """Both directions; 0 when every run of each completed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ref", required=True, help="tag or commit of the neighbouring release")
    parser.add_argument("--runs", type=int, default=100, help="of each direction (default 100)")
    options = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="neighbours-") as name:
        folder = Path(name)
        other = unpacked(options.ref, folder / "other")
        for title, server, worker in (
            (f"the worker of {options.ref} against this server", PROJECT, other),
            (f"this worker against the server of {options.ref}", other, PROJECT),
        ):
            place = folder / ("here" if server == PROJECT else "there")
            place.mkdir()
            with Pair(server, worker, place) as pair:
                states = pair.runs(options.runs)
            faults += states != {"completed": options.runs}
            print(f"{title}: {', '.join(f'{number} {state}' for state, number in sorted(states.items()))}")  # noqa: T201
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""A whole system from the outside: argv, HTTP, git and signals. Imports nothing of the product."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil
import requests

from tests import struck
from tests.databases import fresh_database
from tests.process import static_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PROJECT = Path(__file__).resolve().parents[2]
AGENT = PROJECT / "fixtures" / "simulator" / "agent.py"
WAIT = 90.0  # seconds until a fact that never comes fails its test


def wait_for(what: str, fact: Callable[[], Any], *, seconds: float = WAIT) -> Any:
    """Return the first true answer of ``fact``; fail with ``what`` when none comes in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = fact()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"in {seconds:.0f} s there was no {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def canonical_hash(document: Any) -> str:
    """The hash of a document, computed by the rule of the specification and by no code of the product."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class Process:
    """One child in a process group of its own, with its output in a file."""

    def __init__(
        self,
        argv: list[str],
        environment: dict[str, str],
        log: Path,
        *,
        pipe: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.log = log
        self._file = log.open("ab")
        self.popen = subprocess.Popen(
            argv,
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipe else self._file,
            stderr=self._file,
            start_new_session=True,
            pass_fds=pass_fds,
        )

    @property
    def pid(self) -> int:
        return self.popen.pid

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def end(self, number: int = signal.SIGTERM, *, seconds: float = 20.0) -> int:
        """Send the signal to the process and wait; SIGKILL to its group when it does not end."""
        with contextlib.suppress(ProcessLookupError):
            self.popen.send_signal(number)
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill_group()
        self.close()
        return int(self.popen.returncode)

    def close(self) -> None:
        """Close what this side holds of a process that has ended."""
        self._file.close()
        if self.popen.stdout is not None:
            self.popen.stdout.close()

    def kill_group(self) -> None:
        """SIGKILL to the whole group, as a power failure of this part would end it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.popen.wait(10)

    def tree(self) -> list[psutil.Process]:
        """This process and everything below it, whatever group it moved to; the oldest first."""
        with contextlib.suppress(psutil.NoSuchProcess):
            own = psutil.Process(self.pid)
            return [own, *own.children(recursive=True)]
        return []

    def kill_tree(self) -> None:
        """SIGKILL to this process and everything below it at once, as a power failure of its machine would."""
        family = self.tree()
        for signalled in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none tidies up after another
            for one in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.send_signal(signalled)
        self.popen.wait(10)
        psutil.wait_procs(family, timeout=10)


NO_SCOPE_CHECK = "convergence: {scopeCheck: never}\n"  # one run less for each pull request


class System:
    """A simulated GitHub, a control plane and workers on folders of their own; ended in order on exit."""

    def __init__(
        self, folder: Path, scenario: Path | None = None, *, policy: str = NO_SCOPE_CHECK, **settings: str
    ) -> None:
        self.folder = folder
        self.policy = policy
        self.home = folder / "home"
        self.scenario = scenario
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.settings = {**({} if "DATABASE_URL" in settings else fresh_database()), **settings}
        self.processes: list[Process] = []
        self.forge: dict[str, str] = {}
        self.secret = secrets.token_hex(16)

    def __enter__(self) -> Self:
        self.home.mkdir(mode=0o700, exist_ok=True)
        if not (self.home / "policy.yaml").exists():
            (self.home / "policy.yaml").write_text(self.policy)
        (self.folder / "hook-secret").write_text(self.secret)
        argv = [sys.executable, "-u", "-m", "fixtures.simulator", "--dir", str(self.folder / "forge")]
        argv += ["--hooks-url", f"{self.url}/hooks/github", "--hooks-secret-file", str(self.folder / "hook-secret")]
        argv += ["--scenario", str(self.scenario)] if self.scenario else []
        simulator = self.start("simulator", argv, {"PATH": os.environ["PATH"]}, pipe=True)
        assert simulator.popen.stdout is not None
        self.forge = json.loads(simulator.popen.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(requests.RequestException):
            for fault in self.simulator("faults")["faults"]:
                struck.note({fault["name"]: fault["struck"]})
        for process in reversed(self.processes):
            if process.popen.poll() is None:
                process.end()
            process.close()

    def environment(self, **more: str) -> dict[str, str]:
        """What every process of the product sees: nothing of the caller's settings."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "FACTORY_HOME": str(self.home),
            "PORT": str(self.port),
            "GITHUB_API_URL": self.forge["apiUrl"],
            "GITHUB_GRAPHQL_URL": self.forge["graphqlUrl"],
            "GITHUB_SERVER_URL": self.forge["serverUrl"],
            "GITHUB_TOKEN": self.forge["token"],
            "GITHUB_WEBHOOK_SECRET": self.secret,
            "FACTORY_POLL_SECONDS": "2",
            **self.settings,
            **more,
        }

    def start(
        self,
        name: str,
        argv: list[str],
        environment: dict[str, str],
        *,
        pipe: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> Process:
        """Start one more process of this system, logged by its name and ended with the others."""
        process = Process(argv, environment, self.folder / f"{name}.log", pipe=pipe, pass_fds=pass_fds)
        self.processes.append(process)
        return process

    def manage(self, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", *argv],
            cwd=PROJECT,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=WAIT,
            check=False,
        )

    def serve(self, *, wrap: Sequence[str] = (), seconds: float = WAIT, **more: str) -> Process:
        """Start the control plane, below the command ``wrap`` if one is given, and wait until it answers.

        Raises AssertionError with its last words when it ends instead.
        """
        argv = [*wrap, sys.executable, "-u", "manage.py", "serve", "--port", str(self.port)]
        static_files.lend(self.home)
        process = self.start("serve", argv, self.environment(**more))

        def answers() -> bool:
            assert process.popen.poll() is None, f"serve has ended: {process.text()[-2000:]}"
            return self._healthy()

        wait_for("answer of /health", answers, seconds=seconds)
        static_files.keep(self.home)
        return process

    def up(self, *flags: str) -> Process:
        """Start `up` and wait until it answers."""
        argv = [sys.executable, "-u", "manage.py", "up", "--port", str(self.port), *flags]
        static_files.lend(self.home)
        process = self.start("up", argv, self.environment())
        wait_for("answer of /health", self._healthy)
        return process

    def poll(self, number: int, lifeline: int) -> Process:
        """Start one more process that runs the periodic passes of this system, ended by the pipe's other end."""
        argv = [sys.executable, "-u", "-m", "factory_site.serving.tasks", str(lifeline)]
        return self.start(f"poller-{number}", argv, self.environment(), pass_fds=[lifeline])

    def _healthy(self) -> bool:
        with contextlib.suppress(requests.RequestException):
            return requests.get(f"{self.url}/health", timeout=5).ok
        return False

    def work(self, number: int = 1, *flags: str, wrap: Sequence[str] = (), **more: str) -> Process:
        """Start a worker that runs the scripted agent for every run that leaves the adapter to it."""
        agent = shlex.join([sys.executable, str(AGENT), str(self.scenario)])
        argv = [*wrap, sys.executable, "-u", "manage.py", "work", "--url", self.url]
        argv += ["--credential-file", str(self.home / "secrets" / "worker-local.json")]
        argv += ["--worker-home", str(self.folder / f"worker-{number}"), "--isolation", "none"]
        return self.start(f"worker-{number}", [*argv, "--command", agent, *flags], self.environment(**more))

    @property
    def token(self) -> str:
        return str(json.loads((self.home / "admin.json").read_text())["token"])

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        """One request to the API with the operator's token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return requests.request(method, self.url + path, json=body, headers=headers, timeout=15)

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.ok, f"GET {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def pull(self, key: str) -> Any:
        repository, _, number = key.partition("#")
        return self.get(f"/api/v1/pull-requests/{repository}/{number}")

    def wait_pull(self, key: str, *states: str, seconds: float = WAIT) -> Any:
        """Wait until the pull request is in one of the states; return its detail."""
        last: dict[str, Any] = {}

        def reached() -> Any:
            with contextlib.suppress(requests.RequestException, AssertionError):
                last.update(self.pull(key))
            return last if last.get("state") in states else None

        try:
            return wait_for(f"{key} in {states}", reached, seconds=seconds)
        except AssertionError as error:
            waiting = json.dumps(last.get("waitingFor"), default=str)
            raise AssertionError(f"{error}; it is {last.get('state')}/{last.get('stage')}: {waiting}") from None

    def simulator(self, path: str, body: Any = None) -> Any:
        """One call of the simulated GitHub's control routes."""
        headers = {"Authorization": f"Bearer {self.forge['controlToken']}"}
        method = "GET" if body is None else "POST"
        answer = requests.request(
            method, f"{self.forge['serverUrl']}/_sim/{path}", json=body, headers=headers, timeout=15
        )
        assert answer.ok, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()

    def fault(self, name: str, **facts: Any) -> None:
        """Ask the simulated GitHub for a fault by its name."""
        self.simulator("faults", {"name": name, **facts})

    def fault_struck(self, name: str) -> int:
        """How often the faults of this name have struck."""
        return sum(fault["struck"] for fault in self.simulator("faults")["faults"] if fault["name"] == name)

    def git(self, *argv: str, cwd: Path | None = None) -> str:
        """Run git against the simulated GitHub, with its token given in a header alone."""
        header = f"http.extraHeader=Authorization: Bearer {self.forge['token']}"
        done = subprocess.run(
            ["git", "-c", header, *argv], cwd=cwd or self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def content(self, repository: str, branch: str, path: str) -> str:
        """One file of a branch, read through a real clone."""
        place = self.folder / f"clone-{secrets.token_hex(4)}"
        self.git("clone", "-q", "--branch", branch, f"{self.forge['serverUrl']}/{repository}.git", str(place))
        return (place / path).read_text()

"""What the storm passes over: a control plane, a supervised pool, loose workers, and the network between them."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

import psutil

from tests.chaos.proxy import Proxy
from tests.process.faults.aftermath import FAST
from tests.process.system import PROJECT, System, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.process.system import Process

AGENT = PROJECT / "tests" / "chaos" / "agent.py"
POOL = 4
CLOCKS: tuple[Sequence[str], ...] = (("datefudge", "1 hour"), ("datefudge", "1 hour ago"), (), ())
SMALL_DISK = 3  # the loose worker whose home is a disk of its own
DISK_MEGABYTES = 24
SERVES = 300.0  # seconds until a control plane answers on a machine that is busy with other things
DEFINITION = """\
id: chaos
version: 1
title: Work in the storm
summary: Does what its input says.
kind: event
prompt: chaos.md
input: chaos.input.json
output: chaos.output.json
outputContract: chaos.work/v1
adapter: any
workspace: {kind: ephemeral}
limits: {timeoutSeconds: 120, maxAttempts: 2, maxEnvironmentRetries: 100}
"""
PROMPT = "Do what the input says, and write the result to the file that AGENT_RESULT_FILE names.\n"


class Field:
    """Eight workers on one control plane. What dies is started again by ``tend``, as an init system would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.system = System(folder, None, **FAST)
        self.loose: dict[int, Process] = {}
        self.clocks: dict[int, Sequence[str]] = dict(enumerate(CLOCKS))
        self.serving: Process | None = None
        self.supervisor: Process | None = None
        self.proxy = Proxy(self.system.port)
        self.disk = folder / "disk"

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def _begin(self) -> None:
        self.system.__enter__()
        registry = self.system.home / "registry"
        for name, text in (
            ("agents/chaos.yaml", DEFINITION),
            ("prompts/chaos.md", PROMPT),
            ("schemas/chaos.input.json", '{"type": "object"}'),
            ("schemas/chaos.output.json", '{"type": "object", "required": ["attempt"]}'),
        ):
            (registry / name).parent.mkdir(parents=True, exist_ok=True)
            (registry / name).write_text(text)
        self.disk.mkdir()
        argv = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=0700", "tmpfs", str(self.disk)]
        subprocess.run(argv, check=True, capture_output=True)
        self.serving = self.system.serve(seconds=SERVES)
        for home in self.homes():
            home.mkdir(mode=0o700, exist_ok=True)
            (home / "host.yaml").write_text("disk: {minFreeGb: 0}\n")
        self.tend()

    def __exit__(self, *error: object) -> None:
        try:
            self.system.__exit__(*error)
            for worker in self.pool_workers():
                with contextlib.suppress(psutil.NoSuchProcess):
                    worker.kill()
        finally:
            self.proxy.close()
            subprocess.run(["umount", "-l", str(self.disk)], check=False)

    def _served(self) -> Process:
        """Start the control plane until it stays, as a service manager does.

        A web process that was stopped when its parent was killed holds the port until it is awake again.
        """
        ends = time.monotonic() + SERVES
        while True:
            try:
                return self.system.serve(seconds=SERVES)
            except AssertionError:
                if time.monotonic() >= ends:
                    raise
                time.sleep(1)

    def homes(self) -> list[Path]:
        """The worker homes, the pool's first."""
        return [self.folder / "pool", *(self._home(number) for number in self.clocks)]

    def _home(self, number: int) -> Path:
        return self.disk if number == SMALL_DISK else self.folder / f"loose-{number}"

    @property
    def _work(self) -> list[str]:
        """The flags that every worker gets."""
        agent = shlex.join([sys.executable, str(AGENT), str(self.folder)])
        credential = self.system.home / "secrets" / "worker-local.json"
        return [
            *("--url", f"http://127.0.0.1:{self.proxy.port}", "--credential-file", str(credential)),
            *("--isolation", "none", "--command", agent, "--drain-timeout", "5"),
        ]

    def tend(self) -> None:
        """Start again what is not there."""
        if self.serving is None or self.serving.popen.poll() is not None:
            self.serving = self._served()
        if self.supervisor is None or self.supervisor.popen.poll() is not None:
            argv = [sys.executable, "-u", "manage.py", "supervise", "--workers", str(POOL), "--interval", "0.5"]
            argv += [*self._work, "--worker-home", str(self.folder / "pool")]
            self.supervisor = self.system.start("supervisor", argv, self.system.environment())
        for number, clock in self.clocks.items():
            worker = self.loose.get(number)
            if worker is None or worker.popen.poll() is not None:
                argv = [*clock, sys.executable, "-u", "manage.py", "work", *self._work]
                argv += ["--worker-home", str(self._home(number))]
                self.loose[number] = self.system.start(f"loose-{number}", argv, self.system.environment())

    def pool_workers(self) -> list[psutil.Process]:
        """The pool's living workers, by their pid files."""
        found = []
        for path in (self.system.home / "run").glob("worker-*.pid"):
            with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
                found.append(psutil.Process(json.loads(path.read_text())["pid"]))
        return found

    def workers(self) -> list[psutil.Process]:
        """Every living worker process; of one below `datefudge`, the worker itself."""
        found = self.pool_workers()
        for process in self.loose.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                found += [one for one in process.tree() if "workers.host" in one.cmdline()]
        return found

    def agents(self) -> list[psutil.Process]:
        """The agents at work."""
        return [one for one, argv in self._all() if argv[1:] == [str(AGENT), str(self.folder)]]

    def left_of_agents(self) -> list[psutil.Process]:
        """Agents and whatever they started, wherever it went."""
        return [one for one, argv in self._all() if argv[-1] == str(self.folder)]

    def _all(self) -> Iterator[tuple[psutil.Process, list[str]]]:
        for one in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess):
                argv = one.cmdline()
                if argv and one.status() != psutil.STATUS_ZOMBIE:
                    yield one, argv

    def children_of_serve(self, module: str) -> list[psutil.Process]:
        """The processes of the control plane that run this module."""
        family = self.serving.tree() if self.serving else []
        found = []
        for one in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                if module in one.cmdline():
                    found.append(one)
        return found

    def leave(self) -> None:
        """Let every worker and the supervisor go in order; what does not is left for the proof to find."""
        for process in [self.supervisor, *self.loose.values()]:
            if process is not None:
                process.end(seconds=40)
        wait_for("end of the pool's workers", lambda: not self.pool_workers(), seconds=40)

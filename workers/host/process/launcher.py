"""The only way to an agent's process: a minder in a new session, streams drained, and a certain end."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.contract.redactor import Redactor
from runs.contract.stamp import PACKAGE_ROOT
from workers.host.process.ending import Quarry, end_processes
from workers.host.process.identity import ProcessId, identify, start_token
from workers.host.process.messages import read_message, send_message
from workers.host.process.stat import ON_LINUX
from workers.host.process.streams import CONSOLE_BYTES, TRANSCRIPT_BYTES, BoundedLog, StreamPump

NICE = 5  # agents yield to the worker, whose heartbeats must not be late
CONSOLE = "console.log"  # what people read; event streams and captured output keep every byte
VERIFY_PREFIX = "verify-"
# Without site and its packages, which a minder has no use for but where processes are looked at through psutil.
MINDER = (
    *(sys.executable, "-E", "-s", *(["-S"] if ON_LINUX else [])),
    *("-c", "import sys, workers.host.process.minder as minder; sys.exit(minder.main(*map(int, sys.argv[1:])))"),
)
ALL_ENDED = b"."  # to a minder, before the end of its pipe
DRAIN_SECONDS = 10.0  # for the rest of the output after every process is dead

log = logging.getLogger(__name__)


class SpawnFailed(Exception):
    """The agent could not be started; ``missing`` says that its program does not exist."""

    def __init__(self, message: str, *, missing: bool) -> None:
        """``message`` is what the system said."""
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended; exit code and signal are None when the minder was killed with it."""

    exit_code: int | None
    signal: int | None
    stdout_tail: str
    stderr_tail: str
    oversize_lines: int = 0
    cpu_seconds: float | None = None
    peak_kib: int | None = None


class Interruption:
    """Set once by the worker to end what runs; ``grace`` is read at that moment."""

    def __init__(self) -> None:
        """Not set."""
        self._set = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self.no_grace = False

    def set(self, *, no_grace: bool = False) -> None:
        """End what runs now, without SIGTERM first if ``no_grace``."""
        with self._lock:
            self.no_grace = self.no_grace or no_grace
            self._set.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def clear(self) -> None:
        """What runs next is not ended any more by what was asked before."""
        with self._lock:
            self._callbacks.clear()
            self._set.clear()

    def is_set(self) -> bool:
        """Whether the end was asked for."""
        return self._set.is_set()

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call back when it is set, at once if it is."""
        with self._lock:
            self._callbacks.append(callback)
            ready = self._set.is_set()
        if ready:
            callback()


class Launcher:
    """Starts the processes of one attempt, one at a time."""

    def __init__(
        self,
        *,
        attempt: str,
        logs: Path,
        redactor: Redactor,
        stop: Interruption,
        on_start: Callable[[ProcessId, ProcessId], None],
    ) -> None:
        """``on_start`` gets minder and agent as soon as both exist; it records them before anything else happens."""
        self._attempt = attempt
        self._logs = logs
        self._redactor = redactor
        self._stop = stop
        self._on_start = on_start

    def launch(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdin: bytes | None = None,
        on_line: Callable[[str], None] | None = None,
        stdout_log: str = CONSOLE,
        stderr_log: str = CONSOLE,
        grace: float = 10.0,
        seconds: float | None = None,
    ) -> Exit:
        """Run to the end, to the interruption or for ``seconds``; then nothing of it is alive.

        Raises ``SpawnFailed``. The names are those of files in the attempt's log folder; both may be the same.
        """
        logs = {name: self._log(name) for name in (stdout_log, stderr_log)}
        out = StreamPump(self._redactor, logs[stdout_log], on_line)
        err = StreamPump(self._redactor, logs[stderr_log], None)
        try:
            child = _Child(argv, env=env, cwd=cwd, attempt=self._attempt, pipe_stdin=stdin is not None)
            pumps = [_thread(out.drain, child.stdout), _thread(err.drain, child.stderr)]
            try:
                child.started(self._on_start)
                if stdin is not None:
                    _thread(child.give_stdin, stdin)
                self._stop.subscribe(child.finished.set)
                child.finished.wait(seconds)
            finally:
                no_grace = self._stop.is_set() and self._stop.no_grace
                child.end(grace=0 if no_grace else grace)
                for pump in pumps:
                    pump.join(DRAIN_SECONDS)
        finally:
            for file in logs.values():
                file.close()
        said = child.exit_message or {}
        return Exit(
            exit_code=said.get("exitCode"),
            signal=said.get("signal"),
            stdout_tail=out.tail.text(self._redactor),
            stderr_tail=err.tail.text(self._redactor),
            oversize_lines=out.oversize_lines,
            cpu_seconds=said.get("cpuSeconds"),
            peak_kib=said.get("peakKib"),
        )

    def _log(self, name: str) -> BoundedLog:
        plain = name == CONSOLE or name.startswith(VERIFY_PREFIX)
        cap = CONSOLE_BYTES if plain else TRANSCRIPT_BYTES
        return BoundedLog(self._logs / name, cap, self._redactor, plain=plain)


class _Child:
    """The worker's end of one minder."""

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, attempt: str, pipe_stdin: bool
    ) -> None:
        control, self._control = os.pipe()
        self._status, status = os.pipe()
        self._attempt = attempt
        self.finished = threading.Event()
        self.exit_message: dict[str, Any] | None = None
        self._start_message: dict[str, Any] | None = None
        self._spoke = threading.Event()
        self._agent: ProcessId | None = None
        try:
            self._minder = subprocess.Popen(
                [*MINDER, str(control), str(status)],
                cwd=PACKAGE_ROOT,
                env={"PATH": os.defpath},
                stdin=subprocess.PIPE if pipe_stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=(control, status),
            )
        finally:
            os.close(control)
            os.close(status)
        self._minder_id = identify(self._minder.pid)
        # The pumps own the two read ends from here on.
        self.stdout, self.stderr = _detached(self._minder.stdout), _detached(self._minder.stderr)
        self._listener = _thread(self._listen)
        job = {"argv": list(argv), "env": dict(env), "cwd": str(cwd), "attempt": attempt, "nice": NICE}
        send_message(self._control, job)

    def started(self, on_start: Callable[[ProcessId, ProcessId], None]) -> None:
        """Wait for the agent's pid and pass it on; ``SpawnFailed`` if there is none."""
        self._spoke.wait()
        said = self._start_message
        if said is None or "error" in said:
            reason = said["error"] if said else "the minder ended before it started anything"
            raise SpawnFailed(reason, missing=bool(said and said.get("missing")))
        self._agent = ProcessId(said["pid"], said["start"] or start_token(said["pid"]) or "")
        if self._minder_id is not None:
            on_start(self._minder_id, self._agent)

    def give_stdin(self, content: bytes) -> None:
        """Write everything and close; a program that does not read it is no error."""
        stream = self._minder.stdin
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.write(content)
            with contextlib.suppress(OSError):
                stream.close()

    def end(self, *, grace: float) -> None:
        """Nothing of the attempt is alive afterwards, the minder included."""
        quarry = Quarry(attempt=self._attempt, leader=self._minder_id, agent=self._agent)
        said = self.exit_message or {}
        end_processes(quarry, grace=grace, childless=bool(said.get("childless")))
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, ALL_ENDED)
        os.close(self._control)
        # The end of its pipe is the end of the minder: a wait with a time-out would look again and again.
        self._listener.join(DRAIN_SECONDS)
        if self._listener.is_alive():
            self._minder.kill()
        self._minder.wait()
        if self._minder.stdin is not None:
            with contextlib.suppress(OSError):
                self._minder.stdin.close()

    def _listen(self) -> None:
        while (message := read_message(self._status)) is not None:
            if self._start_message is None:
                self._start_message = message
                self._spoke.set()
            else:
                self.exit_message = message
                self.finished.set()
        os.close(self._status)
        self._spoke.set()
        self.finished.set()


def _detached(stream: Any) -> int:
    descriptor = os.dup(stream.fileno())
    stream.close()
    return descriptor


def _thread(target: Callable[..., None], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread

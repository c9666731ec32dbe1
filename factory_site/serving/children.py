"""Children of a parent process: started, restarted with a pause when they crash, ended in order."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

RESTART_NOW = 75  # a worker's "restart me"
LONGEST_PAUSE = 30.0  # seconds between two starts of a child that keeps crashing
LIVED_LONG = 60.0  # seconds after which a crash counts as the first one again
LOOK_EVERY = 0.1  # seconds
HURRIED_GRACE = 3.0  # seconds between a second signal and SIGKILL


@dataclass(slots=True)
class Child:
    """One child: its argv, and how it lives. ``forever``: also an exit with 0 is followed by a new start."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] | None = None
    forever: bool = True
    pass_fds: tuple[int, ...] = ()
    grace: float = 10.0  # seconds between SIGTERM and SIGKILL
    quiet: bool = False  # what it prints is nobody's business here
    needs: Path | None = None  # it is started once this file exists
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    crashes: int = 0
    next_start: float = 0.0
    ended: bool = False


@dataclass(slots=True)
class Family:
    """The children of this process. The lifeline pipe is closed by the kernel when this process dies."""

    children: list[Child]
    say: Callable[[str], None]
    together: bool = False  # all are told to end at once: nothing of theirs is kept, so the order does not matter
    _read_end: int = -1
    _write_end: int = -1
    _signals: list[int] = field(default_factory=list)

    def run(self, on_ready: Callable[[], None] | None = None, until: Callable[[], bool] | None = None) -> int:
        """Keep the children running until a signal, or ``until()``, then end them; 0, or 130 after a second signal."""
        self._open()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        for child in self.children:
            self._look(child)
        if on_ready:
            on_ready()
        while not self._signals and not (until and until()):
            for child in self.children:
                self._look(child)
            time.sleep(LOOK_EVERY)
        return self._end()

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._signals.append(number)

    def _open(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_inheritable(self._read_end, True)  # noqa: FBT003  # the standard library's own shape

    def _start(self, child: Child) -> None:
        argv = [argument.replace("{lifeline}", str(self._read_end)) for argument in child.argv]
        child.process = subprocess.Popen(  # argv is this product's own
            argv,
            env=None if child.environment is None else dict(child.environment),
            pass_fds=(self._read_end, *child.pass_fds),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if child.quiet else None,
            stderr=subprocess.DEVNULL if child.quiet else None,
            start_new_session=True,  # Ctrl-C reaches this process alone, which ends them in order
        )
        child.started = time.monotonic()

    def _look(self, child: Child) -> None:
        if child.process is None:
            if not child.ended and time.monotonic() >= child.next_start and (not child.needs or child.needs.exists()):
                self._start(child)
            return
        code = child.process.poll()
        if code is None:
            return
        lived = time.monotonic() - child.started
        child.process = None
        if code == 0 and not child.forever:
            child.ended = True
            return
        child.crashes = 1 if lived > LIVED_LONG else child.crashes + 1
        at_once = code == RESTART_NOW and child.crashes == 1  # one that asks for it again and again is crashing
        pause = 0.0 if at_once else min(2.0 ** (child.crashes - 1), LONGEST_PAUSE)
        child.next_start = time.monotonic() + pause
        self.say(f"{child.name} ended with {code}; starting it again in {pause:.0f} s")

    def _end(self) -> int:
        """End the children in reverse order, each with its grace; a second signal hurries them."""
        for child in self.children if self.together else ():
            self._terminate(child)
        for child in reversed(self.children):
            self._end_child(child)
        os.close(self._write_end)
        return 130 if len(self._signals) > 1 else 0

    def _terminate(self, child: Child) -> None:
        with contextlib.suppress(ProcessLookupError):
            if child.process is not None:
                child.process.terminate()

    def _end_child(self, child: Child) -> None:
        process = child.process
        if process is None or process.poll() is not None:
            return
        self._terminate(child)
        self._wait(process, child.grace, unless_hurried=True)
        if process.poll() is None:
            self._terminate(child)  # the second signal, which each child knows to take as one to hurry
            self._wait(process, HURRIED_GRACE)
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()

    def _wait(self, process: subprocess.Popen[bytes], seconds: float, *, unless_hurried: bool = False) -> None:
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            if unless_hurried and len(self._signals) > 1:
                return
            time.sleep(LOOK_EVERY / 2)


def python(*arguments: str) -> list[str]:
    """An argv that runs this interpreter without buffering."""
    return [sys.executable, "-u", *arguments]

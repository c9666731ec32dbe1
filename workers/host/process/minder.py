"""The parent of an agent: reports how it ended, and ends everything below when the worker is gone.

Started in a session of its own with two pipes: one line of JSON (argv, env, cwd, attempt, nice) comes over ``control``,
lines of JSON go over ``status``. The end of ``control`` means that the worker died or is done.
"""

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
from typing import Any

from workers.host.process.ending import Quarry, end_processes
from workers.host.process.identity import identify

PR_SET_CHILD_SUBREAPER = 36
LARGEST_FILE = 4 * 1024**3  # bytes of one file that an agent writes
OPEN_FILES = 8192
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def become_subreaper() -> None:
    """Orphans of this process's descendants become its children; nothing happens where Linux is absent."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main(control: int, status: int) -> int:
    """Run one agent; returns after everything below is dead."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    job = _read_job(control)
    if job is None:
        return 0
    wake, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        agent = subprocess.Popen(
            job["argv"],
            env=job["env"],
            cwd=job["cwd"],
            start_new_session=True,
            preexec_fn=lambda: _limit(job),  # noqa: PLW1509 -- the minder has one thread
        )
    except (OSError, subprocess.SubprocessError) as error:
        _tell(status, {"error": f"{type(error).__name__}: {error}", "missing": isinstance(error, FileNotFoundError)})
        return 0
    _let_go_of_streams()
    found = identify(agent.pid)
    _tell(status, {"pid": agent.pid, "start": found.start if found else ""})
    while True:
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 512)
        _reap(agent.pid, status)
        if control in ready and not os.read(control, 512):
            break
    me = identify(os.getpid())
    end_processes(Quarry(attempt=job["attempt"], leader=me, agent=found), grace=0)
    return 0


def _read_job(control: int) -> dict[str, Any] | None:
    content = b""
    while not content.endswith(b"\n"):
        chunk = os.read(control, 65536)
        if not chunk:
            return None
        content += chunk
    job: dict[str, Any] = json.loads(content)
    return job


def _limit(job: dict[str, Any]) -> None:
    for number in IGNORED:
        signal.signal(number, signal.SIG_DFL)
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, LARGEST_FILE)
    _cap(resource.RLIMIT_NOFILE, OPEN_FILES)
    with contextlib.suppress(OSError):
        os.nice(int(job["nice"]))


def _cap(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (bound, bound))


def _let_go_of_streams() -> None:
    # The agent alone holds its pipes, so that their end is the end of the agent and of what it left behind.
    empty = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(empty, stream)
    os.close(empty)


def _reap(agent: int, status: int) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, wait_status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid == agent:
                code = os.waitstatus_to_exitcode(wait_status)
                _tell(status, {
                    "exitCode": code if code >= 0 else None,
                    "signal": -code if code < 0 else None,
                    "cpuSeconds": round(usage.ru_utime + usage.ru_stime, 3),
                    "peakKib": usage.ru_maxrss,
                })  # fmt: skip


def _tell(status: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))

"""The parent of an agent: reports how it ended, and ends everything below when the worker is gone.

Started in a session of its own with two pipes: the job (argv, env, cwd, attempt, nice) comes over ``control``, what
becomes of it goes over ``status``. One more byte over ``control`` means that the worker has ended everything itself,
the end of the pipe without that byte that the worker died. Every agent waits for this program to start, so it loads
next to nothing.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal

from workers.host.process.messages import read_message, send_message
from workers.host.process.stat import start_token
from workers.host.process.subreaper import become_subreaper

TYPE_CHECKING = False  # as `typing` has it, which would take as long to load as everything else
if TYPE_CHECKING:
    from typing import Any

LARGEST_FILE = 4 * 1024**3  # bytes of one file that an agent writes
OPEN_FILES = 8192
IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
RESTORED = (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ)  # Python itself ignores the last two
COMMAND_FAILED = 127


class NotStarted(Exception):
    """The agent's program could not be started; ``missing`` says that it does not exist."""

    def __init__(self, message: str, *, missing: bool) -> None:
        """``message`` is what the system said."""
        super().__init__(message)
        self.missing = missing


def main(control: int, status: int) -> int:
    """Run one agent; returns after everything below is dead."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 -- it has no name
    gets_orphans = become_subreaper()
    job = read_message(control)
    if job is None:
        return 0
    wake, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        agent = _start(job)
    except NotStarted as error:
        send_message(status, {"error": str(error), "missing": error.missing})
        return 0
    _let_go_of_streams()
    start = start_token(agent)
    send_message(status, {"pid": agent, "start": start})
    while True:
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 512)
        _reap(agent, status, gets_orphans=gets_orphans)
        if control in ready:
            break
    if not os.read(control, 1):
        _end_all(job["attempt"], agent, start)
    return 0


def _start(job: dict[str, Any]) -> int:
    """The pid of the agent, which runs its program by now."""
    said, say = os.pipe()  # both close when the program begins
    pid = os.fork()
    if pid == 0:
        try:
            _become(job)
        except BaseException as error:  # noqa: BLE001 -- two of this program must not go on from here
            send_message(say, (f"{type(error).__name__}: {error}", isinstance(error, FileNotFoundError)))
        finally:
            os._exit(COMMAND_FAILED)
    os.close(say)
    failure = read_message(said)
    os.close(said)
    if failure is not None:
        os.waitpid(pid, 0)
        raise NotStarted(failure[0], missing=failure[1])
    return pid


def _become(job: dict[str, Any]) -> None:
    os.setsid()
    for number in RESTORED:
        signal.signal(number, signal.SIG_DFL)
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, LARGEST_FILE)
    _cap(resource.RLIMIT_NOFILE, OPEN_FILES)
    with contextlib.suppress(OSError):
        os.nice(job["nice"])
    os.chdir(job["cwd"])
    os.execvpe(job["argv"][0], job["argv"], job["env"])  # noqa: S606 -- the job is the worker's


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


def _reap(agent: int, status: int, *, gets_orphans: bool) -> None:
    """Bury who has ended; of the agent, tell how it ended and whether nothing is left of it for certain."""
    ended: dict[str, Any] | None = None
    childless = False
    try:
        while True:
            pid, wait_status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == agent:
                code = os.waitstatus_to_exitcode(wait_status)
                ended = {
                    "exitCode": code if code >= 0 else None,
                    "signal": -code if code < 0 else None,
                    "cpuSeconds": round(usage.ru_utime + usage.ru_stime, 3),
                    "peakKib": usage.ru_maxrss,
                }
    except ChildProcessError:
        childless = gets_orphans
    if ended is not None:
        send_message(status, {**ended, "childless": childless})


def _end_all(attempt: str, agent: int, start: str) -> None:
    # Only after the death of a worker: it takes several times as long to load as everything above.
    from workers.host.process.ending import Quarry, end_processes
    from workers.host.process.identity import ProcessId, identify

    leader = identify(os.getpid())
    known = ProcessId(agent, start) if start else identify(agent)
    end_processes(Quarry(attempt=attempt, leader=leader, agent=known), grace=0)

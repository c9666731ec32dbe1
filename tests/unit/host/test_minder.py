"""The parent of an agent, started as a worker starts it."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runs.contract.stamp import PACKAGE_ROOT
from workers.host.process.ending import Quarry, end_processes
from workers.host.process.identity import identify, is_alive
from workers.host.process.launcher import ALL_ENDED, MINDER
from workers.host.process.messages import read_message, send_message
from workers.host.process.minder import RESTORED

# Its grandchild makes a session of its own and outlives it; the pipe tells its pid when it runs.
LEAVES_A_DAEMON = """
import os, sys
said, say = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(say, b".")
    os.execvp("sleep", ["sleep", "600"])
os.read(said, 1)
"""


class Started:
    """A minder with the worker's two ends of its pipes."""

    def __init__(self, argv: list[str], cwd: Path, env: dict[str, str]) -> None:
        control, self.control = os.pipe()
        self.status, status = os.pipe()
        self.process = subprocess.Popen(
            [*MINDER, str(control), str(status)], cwd=PACKAGE_ROOT, pass_fds=(control, status), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(control)
        os.close(status)
        job = {"argv": argv, "env": {"PATH": os.environ["PATH"], **env}, "cwd": str(cwd), "attempt": "", "nice": 0}
        send_message(self.control, job)

    def said(self) -> Any:
        return read_message(self.status)


@contextmanager
def minder(argv, cwd, **env):
    started = Started(argv, cwd, env)
    try:
        yield started
    finally:
        end_processes(Quarry(attempt="", leader=identify(started.process.pid), spare_leader=False), grace=0)
        started.process.wait()
        os.close(started.status)


def test_it_tells_pid_and_start_of_its_agent_and_how_it_ended(tmp_path):
    with minder(["sh", "-c", "exit 3"], tmp_path) as started:
        begun, ended = started.said(), started.said()
        assert begun["start"].count(":") == 1
        assert (ended["exitCode"], ended["signal"], ended["childless"]) == (3, None, True)
        assert ended["peakKib"] > 0
        os.write(started.control, ALL_ENDED)
        os.close(started.control)
        assert started.process.wait(20) == 0


def test_what_an_agent_left_running_is_told_with_its_exit_and_ended_when_the_worker_is_gone(tmp_path):
    """AD-H9"""
    with minder([sys.executable, "-c", LEAVES_A_DAEMON], tmp_path) as started:
        assert started.said()["pid"]
        assert started.said()["childless"] is False
        children = Path(f"/proc/{started.process.pid}/task/{started.process.pid}/children").read_text().split()
        [daemon] = [identify(int(pid)) for pid in children]
        assert daemon is not None
        os.close(started.control)
        assert started.process.wait(20) == 0
        assert not is_alive(daemon)


@pytest.mark.parametrize(
    ("argv", "missing"), [(["no-such-program"], True), (["/etc/passwd"], False), (["a\0b"], False)]
)
def test_an_agent_that_cannot_be_started_is_told_and_nothing_stays(tmp_path, argv, missing):
    with minder(argv, tmp_path) as started:
        said = started.said()
        assert said["missing"] is missing
        assert said["error"]
        assert started.said() is None
        assert started.process.wait(20) == 0


def test_an_agent_begins_with_the_signals_of_any_program_and_with_no_pipe_of_its_worker(tmp_path):
    source = "grep SigIgn /proc/self/status > seen; ls /proc/self/fd >> seen"
    with minder(["sh", "-c", source], tmp_path) as started:
        assert started.said()["pid"]
        assert started.said()["exitCode"] == 0
    _, ignored, *descriptors = (tmp_path / "seen").read_text().split()
    assert [number for number in RESTORED if int(ignored, 16) & 1 << number - 1] == []
    assert descriptors == ["0", "1", "2", "3"]  # the last is the listing


def test_a_job_larger_than_a_pipe_arrives_whole(tmp_path):
    large = dict.fromkeys("ABCDEFGH", "x" * 100_000)
    with minder(["sh", "-c", 'printf %s "$A$B$C$D$E$F$G$H" | wc -c > size'], tmp_path, **large) as started:
        started.said()
        assert started.said()["exitCode"] == 0
    assert int((tmp_path / "size").read_text()) == 800_000


def test_a_minder_loads_nothing_that_takes_longer_than_itself():
    """Every agent waits for it."""
    heavy = "argparse dataclasses inspect json logging pathlib re subprocess typing"
    source = f"import sys, workers.host.process.minder; print([n for n in {heavy.split()} if n in sys.modules])"
    argv = [*MINDER[: MINDER.index("-c")], "-c", source]
    assert subprocess.run(argv, cwd=PACKAGE_ROOT, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_the_message_of_a_pipe_that_ends_in_its_middle_is_none():
    read, write = os.pipe()
    os.write(write, (100).to_bytes(4, "big") + b"half")
    os.close(write)
    assert read_message(read) is None
    os.close(read)

"""A database that another program has locked, and a disk without room."""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.faults import aftermath
from tests.process.system import System

pytestmark = aftermath.needs_git
PULL, OTHER = "acme/shop#1", "acme/shop#2"
LOCKED_SECONDS = 12.0  # longer than one wait for the lock


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """A disk of its own at the folder; the test is left out where nothing may be mounted."""
    folder.mkdir(mode=0o700)
    argv = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here, which takes root: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Take all the room that is left; the file that has it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(os.urandom(4096)):
            pass
    return ballast


@pytest.mark.skipif("DATABASE_URL" in os.environ, reason="PostgreSQL keeps its rows outside the data folder")
def test_a_database_that_another_program_locks_delays_everything_and_loses_nothing(tmp_path: Path) -> None:
    with System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system:
        aftermath.allow_retries(system)
        system.serve()
        system.work()
        aftermath.submit(system, PULL)
        aftermath.running_agent(system, PULL)
        other = sqlite3.connect(system.home / "factory.sqlite3", isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            aftermath.holds(
                "reading stopped while another program held the write lock",
                lambda: system.call("GET", f"/api/v1/pull-requests/{PULL.replace('#', '/')}").status_code == 200,
                seconds=LOCKED_SECONDS,
            )
            other.execute("ROLLBACK")
        finally:
            other.close()
        aftermath.assert_settled(system, PULL)


@pytest.mark.skipif("DATABASE_URL" in os.environ, reason="PostgreSQL keeps its rows outside the data folder")
def test_a_full_disk_refuses_what_it_cannot_keep_and_everything_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "home", 64),
        System(tmp_path, aftermath.scenario("plain"), **aftermath.FAST) as system,
    ):
        aftermath.allow_retries(system)
        system.serve()
        system.work()
        aftermath.submit(system, PULL)
        aftermath.running_agent(system, PULL)
        ballast = fill(system.home)
        refused = system.call("POST", "/api/v1/pull-requests", {"pullRequest": OTHER})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
        assert system.call("GET", "/api/v1/status").status_code == 200
        ballast.unlink()
        aftermath.submit(system, OTHER)
        aftermath.assert_settled(system, PULL, OTHER, anomalies=["disk_low"])  # a disk of megabytes always is

"""Commands run to their end on data folders of their own, and one data folder that has been served."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.process.serving import PROJECT, Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Done = subprocess.CompletedProcess[str]


def run(home: Path, *argv: str, **variables: str) -> Done:
    """One command of manage.py, to its end."""
    environment = {"PATH": os.environ["PATH"], "FACTORY_HOME": str(home), **variables}
    return subprocess.run(
        [sys.executable, "manage.py", *argv],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def manage(tmp_path: Path) -> Callable[..., Done]:
    """Run a command on a fresh data folder."""
    return lambda *argv, **variables: run(tmp_path / "home", *argv, **variables)


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A control plane that serves while the tests of this folder run."""
    running = Served(tmp_path_factory.mktemp("inputs") / "home")
    try:
        running.wait_until_up()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def refused(done: Done, *, code: int = 1) -> str:
    """The one line on stderr of a command that was refused."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    # The first command of a checkout also says that it makes the environment.
    lines = [line for line in done.stderr.splitlines() if not line.startswith("factory: preparing ")]
    assert len(lines) == 1, done.stderr
    return lines[0]

"""A machine with a supervisor: real processes against a small control plane."""

import contextlib
import json
import os
import signal
import sys

import pytest

from tests.process.host.conftest import ROOT, Machine, alive, wait_for
from tests.process.host.control_plane import ControlPlane


class Pool(Machine):
    """A node whose workers come and go."""

    @property
    def run(self):
        return self.folder / "run"

    def supervise(self, *flags):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        argv = [sys.executable, "-m", "workers.host.pool", "--interval", "0.2", "--poll-ms", "25", *flags]
        return self.start(argv, {**kept, "FACTORY_HOME": str(self.folder), "PYTHONPATH": str(ROOT), **self.environment})

    def slots(self):
        """Slot → pid of the workers that live, by their pid files."""
        found = {}
        for path in self.run.glob("worker-*.pid"):
            with contextlib.suppress(OSError, ValueError):
                pid = json.loads(path.read_text())["pid"]
                if alive(pid):
                    found[int(path.stem.removeprefix("worker-"))] = pid
        return found

    def registered(self, count, seconds=20.0):
        """Wait until so many workers live and have registered; slot → pid."""

        def there():
            slots = self.slots()
            return slots if len(slots) == count and all((self.run / f"worker-{n}.id").exists() for n in slots) else None

        return wait_for(there, seconds, f"{count} registered workers: {self.said()}")

    def holding(self, run_id):
        """Wait until a worker has noted on disk that it holds this run."""
        return wait_for(
            lambda: [path for path in self.home.glob("boots/*/current.json") if run_id in path.read_text()],
            what=f"{run_id} in hand",
        )

    def lines(self, *words):
        """The supervisor's log lines that hold all these words."""
        with contextlib.suppress(OSError):
            text = (self.run / "supervisor.log").read_text()
            return [line for line in text.splitlines() if all(word in line for word in words)]
        return []

    def said(self):
        return self.lines()[-12:]

    def until(self, *words, count=1, seconds=20.0):
        """Wait until so many lines hold all these words."""
        return wait_for(
            lambda: len(found := self.lines(*words)) >= count and found, seconds, f"{words} in {self.said()}"
        )

    def stop(self):
        super().stop()
        for pid in self.slots().values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def plane():
    made = ControlPlane()
    yield made
    made.close()


@pytest.fixture
def pool(tmp_path, plane):
    made = Pool(tmp_path / "data", plane.url)
    yield made
    made.stop()

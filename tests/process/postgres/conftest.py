"""Control planes on PostgreSQL, and runs that another process puts into their queues."""

import subprocess
import sys

import pytest

from tests import rings
from tests.process.serving import PROJECT, Served


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests out of a pass on SQLite: the pass on PostgreSQL runs them."""
    if rings.postgres_url() is None:
        for item in items:
            if "tests/process/postgres" in item.path.as_posix():
                item.add_marker(pytest.mark.skip(reason="no DATABASE_URL of a PostgreSQL"))


def queue_runs(served: Served, count: int) -> None:
    """Have a process of its own queue this many runs that any worker may take."""
    environment = {**served.environment, "DJANGO_SETTINGS_MODULE": "factory_site.settings"}
    argv = [sys.executable, "-m", "tests.process.postgres.queue_runs", str(count)]
    done = subprocess.run(argv, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

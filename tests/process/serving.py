"""A real `serve` on a throw-away data folder, reached by argv, HTTP and signals alone."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests

from tests.databases import fresh_database
from tests.process import static_files

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0  # a cold start migrates and collects files
STOP_SECONDS = 30.0


class Served:
    """One running control plane."""

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        self.log = home.with_suffix(".log")
        # What every process of this control plane sees: nothing of the caller's settings but the way to programs.
        database = {} if "DATABASE_URL" in variables else fresh_database()
        self.environment = {"PATH": os.environ["PATH"], "FACTORY_HOME": str(home), **database, **variables}
        static_files.lend(home)
        with self.log.open("wb") as log:
            argv = [sys.executable, "manage.py", "serve", "--port", "0"]
            self.process = subprocess.Popen(argv, cwd=PROJECT, env=self.environment, stdout=log, stderr=log)

    @property
    def credential_path(self) -> Path:
        return self.home / "secrets" / "worker-local.json"

    @property
    def credential(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.credential_path.read_text())
        return loaded

    def wait_until_up(self) -> None:
        self.until(self._is_up, "serve answers")
        static_files.keep(self.home)

    def until(self, fact: Callable[[], Any], what: str) -> None:
        """Wait for a fact, a bounded time, while the process lives."""
        ends = time.monotonic() + START_SECONDS
        while not fact():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < ends, f"never: {what}\n{self.log.read_text()}"
            time.sleep(0.1)

    def workers(self) -> list[dict[str, Any]]:
        """The workers that the API lists."""
        admin = json.loads((self.home / "admin.json").read_text())
        headers = {"Authorization": f"Bearer {admin['token']}"}
        answer = requests.get(f"{self.credential['url']}/api/v1/workers", headers=headers, timeout=30)
        found: list[dict[str, Any]] = answer.json()["items"]
        return found

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def _is_up(self) -> bool:
        try:
            return requests.get(f"{self.credential['url']}/health", timeout=5).status_code == 200
        except (OSError, ValueError):
            return False

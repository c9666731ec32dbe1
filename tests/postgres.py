"""A PostgreSQL server of a test run's own: made in a temporary folder, on loopback, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

START_SECONDS = 30
STOP_SECONDS = 30
FAST = signal.SIGINT  # ends sessions and shuts down
CRASH = signal.SIGQUIT  # drops everything; the next start recovers from the log


class Cluster:
    """One server that nobody else uses; `stop` and `start` keep its data and its address."""

    def __init__(self, binaries: Path, folder: Path, settings: Mapping[str, str]) -> None:
        self._settings = {"fsync": "off", **settings}
        self.binaries = binaries
        self.folder = folder
        self.port = _free_port()
        self.url = f"postgres://factory@127.0.0.1:{self.port}/postgres"
        self._account = _account(folder)
        self._server: subprocess.Popen[bytes] | None = None
        argv = [str(binaries / "initdb"), "-D", str(folder / "store"), "-U", "factory", "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*argv, "--locale=C", "--no-sync", "--no-instructions"],
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            **self._account,
        )

    def start(self) -> None:
        """Return once the server takes connections."""
        argv = [str(self.binaries / "postgres"), "-D", str(self.folder / "store")]
        argv += ["-k", str(self.folder), "-p", str(self.port)]
        argv += ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]
        argv += [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self._account,
            )
        self._wait_until_ready(self._server)

    def stop(self, how: signal.Signals = FAST) -> None:
        """Return once no process of the server is left."""
        server, self._server = self._server, None
        if server is None:
            return
        server.send_signal(how)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.send_signal(CRASH)
            server.wait()

    def _wait_until_ready(self, server: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and server.poll() is None:
            ready = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
            if subprocess.run(ready, check=False).returncode == 0:
                return
            time.sleep(0.05)
        raise SystemExit(f"PostgreSQL did not start:\n{(self.folder / 'log').read_text(errors='replace')[-2000:]}")


@contextlib.contextmanager
def throwaway_cluster(binaries: Path, settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Give a running server; without ``settings`` of its own it leaves syncing out, as no test needs it."""
    folder = Path(tempfile.mkdtemp(prefix="factory-pg-"))
    try:
        cluster = Cluster(binaries, folder, settings or {})
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _account(folder: Path) -> dict[str, Any]:
    """Return how to start a process that is not root, which PostgreSQL refuses, and give it the folder."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise SystemExit("PostgreSQL refuses root, and there is no other account; run the tests as an ordinary user")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

"""A PostgreSQL server for one test run: made in a temporary folder, on loopback, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

START_SECONDS = 30
STOP_SECONDS = 30


@contextlib.contextmanager
def throwaway_cluster(binaries: Path) -> Iterator[str]:
    """Give the DATABASE_URL of a running server that nobody else uses."""
    folder = Path(tempfile.mkdtemp(prefix="factory-pg-"))
    try:
        account = _account(folder)
        store = folder / "store"
        subprocess.run(
            [binaries / "initdb", "-D", store, "-U", "factory", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            **account,
        )
        port = _free_port()
        argv = [str(binaries / "postgres"), "-D", str(store), "-k", str(folder), "-p", str(port)]
        argv += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, start_new_session=True, **account
            )
        try:
            _wait_until_ready(server, binaries, port, folder / "log")
            yield f"postgres://factory@127.0.0.1:{port}/postgres"
        finally:
            _stop(server)
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


def _wait_until_ready(server: subprocess.Popen[bytes], binaries: Path, port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        ready = [str(binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        if subprocess.run(ready, check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise SystemExit(f"PostgreSQL did not start:\n{log.read_text(errors='replace')[-2000:]}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # "fast": ends sessions and shuts down
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)
        server.wait()

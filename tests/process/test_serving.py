"""`serve` and `up`: children that come back, and that nobody outlives."""

import contextlib
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.process.system import System, wait_for


def children(pid: int, word: str) -> list[psutil.Process]:
    """Live descendants whose argv has the word."""
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        try:
            if word in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def idle_workers(system: System) -> list[dict[str, Any]]:
    return [worker for worker in system.get("/api/v1/workers")["items"] if worker["state"] == "idle"]


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def test_a_killed_child_is_started_again_and_no_request_is_refused_meanwhile(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        serve = system.serve()
        [web] = [each for each in children(serve.pid, "serving.web") if each.ppid() == serve.pid]
        [tasks] = children(serve.pid, "serving.tasks")
        web.kill()
        tasks.kill()
        # The socket is the parent's: the request waits in its queue for the new web child.
        assert requests.get(f"{system.url}/health", timeout=30).status_code == 200
        renewed = wait_for("new tasks child", lambda: children(serve.pid, "serving.tasks"))
        assert renewed[0].pid != tasks.pid


def test_nothing_outlives_a_killed_parent(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        serve = system.serve()
        below = psutil.Process(serve.pid).children(recursive=True)
        assert len(below) >= 3, "web master, web worker, tasks"
        os.kill(serve.pid, signal.SIGKILL)
        serve.popen.wait(10)
        _, alive = psutil.wait_procs(below, timeout=5)
        assert alive == []
        assert port_is_free(system.port)
        # The next one starts on the same folder: the lock went with the process, and the pid file is no obstacle.
        system.serve()


def test_a_first_signal_ends_serve_in_order(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        serve = system.serve()
        below = psutil.Process(serve.pid).children(recursive=True)
        assert serve.end(signal.SIGTERM) == 0
        _, alive = psutil.wait_procs(below, timeout=5)
        assert alive == []
        assert "Traceback" not in serve.text()


def test_the_first_start_leaves_its_secrets_to_their_owner_alone(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        system.serve()
        for name in ("admin.json", "secret.key", "secrets/worker-local.json"):
            assert (system.home / name).stat().st_mode & 0o077 == 0, name
        command_lines = [" ".join(each.cmdline()) for each in psutil.Process(system.processes[-1].pid).children()]
        assert system.token not in " ".join(command_lines)
        assert system.token not in system.processes[-1].text()


def workers_of(system: System) -> list[psutil.Process]:
    """The live workers of the system's pool, by its run folder."""
    found = []
    for path in (system.home / "run").glob("worker-*.pid"):
        with contextlib.suppress(OSError, ValueError, psutil.Error):
            found.append(psutil.Process(json.loads(path.read_text())["pid"]))
    return found


def test_up_runs_a_pool_and_drains_it_on_ctrl_c(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        up = system.up("--workers", "1", "--command", "true")
        idle = wait_for("idle worker", lambda: idle_workers(system))
        assert idle[0]["offer"]["anyAdapter"] == "command"
        assert (idle[0]["pool"], idle[0]["slot"]) == ("main", 1)
        [pool] = wait_for("pool", lambda: system.get("/api/v1/status")["pools"])
        assert (pool["supervisor"], pool["min"], pool["max"], pool["node"]) == ("live", 1, 1, "local")
        [line] = [line for line in system.manage("status").stdout.splitlines() if line.startswith("pool")]
        assert "main@local" in line
        assert "supervisor live (pid" in line
        workers = workers_of(system)
        assert len(workers) == 1
        assert up.end(signal.SIGINT, seconds=60) == 0
        _, alive = psutil.wait_procs(workers, timeout=5)
        assert alive == []
        assert "Traceback" not in up.text()


def test_up_refuses_bounds_that_cannot_be_kept_in_one_line(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        done = system.manage("up", "--workers", "3:1")
        assert done.returncode != 0
        assert "--workers 3:1: min 3 is more than max 1" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_workers_of_a_killed_up_leave_as_well(tmp_path: Path) -> None:
    with System(tmp_path) as system:
        up = system.up("--workers", "2", "--command", "true")
        wait_for("two idle workers", lambda: len(idle_workers(system)) == 2)
        workers = workers_of(system)
        os.kill(up.pid, signal.SIGKILL)
        up.popen.wait(10)
        _, alive = psutil.wait_procs(workers, timeout=30)
        assert alive == []

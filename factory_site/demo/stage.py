"""Setting the stage: a throw-away folder, the simulated GitHub, the control plane and two workers."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from factory_site.demo.client import Client
from factory_site.demo.director import Director
from factory_site.serving.children import Child, Family, python
from runs.contract.errors import Invalid, Permanent

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent.parent
SIMULATOR = ROOT / "fixtures" / "simulator"
DEFAULT_SCENARIO = SIMULATOR / "demo.yaml"
USUAL_PORT = 8090
WORKERS = 2
# What makes waiting short: the forge is on this machine and asks for no restraint.
HASTE = {"FACTORY_POLL_SECONDS": "2", "FACTORY_REVIEW_NUDGE_MINUTES": "1", "FACTORY_REAPER_SECONDS": "2"}


def say(text: str) -> None:
    """Tell the person at the terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def play(*, once: bool, scenario: Path, port: int, seconds: int) -> int:
    """Play the scenario on a throw-away folder and return the exit code; nothing is left behind."""
    script = yaml.safe_load(scenario.read_text(encoding="utf-8"))
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="factory-demo-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        port = port or _free_port()
        forge = _start_simulator(stack, folder, scenario, port)
        environment = _environment(folder, forge, port)
        url = f"http://127.0.0.1:{port}"
        director = Director(Client(url, folder / "home" / "admin.json"), script, once=once, seconds=seconds, say=say)
        family = Family([_control_plane(environment, port), *_workers(environment, url, folder, scenario)], say)
        say("Starting the control plane, two workers and a simulated GitHub (all on this machine, all thrown away)")
        family.run(until=director.tick)
        return director.result()


def _free_port() -> int:
    """The usual port if nobody has it, else any free one."""
    for wanted in (USUAL_PORT, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise Invalid("port_taken", "no port is free on 127.0.0.1")


def _start_simulator(stack: ExitStack, folder: Path, scenario: Path, port: int) -> dict[str, Any]:
    """Start the simulated GitHub and return its addresses and tokens."""
    secret = folder / "hook-secret"
    secret.touch(mode=0o600)
    secret.write_text(secrets.token_hex(16), encoding="ascii")
    read_end, write_end = os.pipe()
    stack.callback(os.close, write_end)
    argv = python(
        "-m",
        "fixtures.simulator",
        *("--scenario", str(scenario)),
        *("--dir", str(folder / "forge")),
        *("--hooks-url", f"http://127.0.0.1:{port}/hooks/github"),
        *("--hooks-secret-file", str(secret)),
        *("--parent-fd", str(read_end)),
    )
    process = subprocess.Popen(  # argv is this product's own
        argv, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, pass_fds=(read_end,), start_new_session=True
    )
    os.close(read_end)
    stack.callback(process.wait, 10)
    stack.callback(process.terminate)
    line = process.stdout.readline() if process.stdout else b""
    if not line:
        raise Permanent("simulator_failed", f"the simulated GitHub did not start (exit {process.wait()})")
    addresses: dict[str, Any] = json.loads(line)
    return {**addresses, "hookSecret": secret.read_text(encoding="ascii")}


def _environment(folder: Path, forge: Mapping[str, Any], port: int) -> dict[str, str]:
    """What the children see: nothing of the caller's own settings or credentials."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FACTORY_", "GITHUB_", "GH_")) and name not in {"DATABASE_URL", "REDIS_URL", "PORT"}
    }
    return {
        **kept,
        **HASTE,
        "FACTORY_HOME": str(folder / "home"),
        "PORT": str(port),
        "GITHUB_API_URL": forge["apiUrl"],
        "GITHUB_GRAPHQL_URL": forge["graphqlUrl"],
        "GITHUB_SERVER_URL": forge["serverUrl"],
        "GITHUB_TOKEN": forge["token"],
        "GITHUB_WEBHOOK_SECRET": forge["hookSecret"],
    }


def _control_plane(environment: Mapping[str, str], port: int) -> Child:
    argv = python(str(ROOT / "manage.py"), "serve", "--port", str(port))
    return Child("control plane", argv, environment=environment, quiet=True, grace=15.0)


def _workers(environment: Mapping[str, str], url: str, folder: Path, scenario: Path) -> list[Child]:
    """Workers that run the scripted agent for every run that leaves the adapter to them."""
    agent = shlex.join([sys.executable, str(SIMULATOR / "agent.py"), str(scenario.resolve())])
    return [
        Child(
            f"worker {number}",
            python(
                str(ROOT / "manage.py"),
                "work",
                *("--url", url),
                *("--credential-file", str(folder / "home" / "secrets" / "worker-local.json")),
                *("--worker-home", str(folder / "workers" / str(number))),
                *("--isolation", "none"),
                *("--command", agent),
            ),
            environment=environment,
            quiet=True,
            needs=folder / "home" / "secrets" / "worker-local.json",
        )
        for number in range(1, WORKERS + 1)
    ]

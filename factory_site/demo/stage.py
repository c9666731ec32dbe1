"""Setting the stage: a throw-away folder, the simulated GitHub, the control plane and a pool of two workers."""

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
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factory_site.config import SETTINGS_FILE
from factory_site.demo.client import Client
from factory_site.demo.director import Director
from factory_site.demo.scenarios import ROOT, SIMULATOR, policy_lay, scenario_read
from factory_site.demo.telling import Paper
from factory_site.serving.children import Child, Family, python
from runs.contract.errors import Invalid, Permanent

if TYPE_CHECKING:
    from collections.abc import Mapping

USUAL_PORT = 8090
WORKERS = 2
SECONDS_TO_LEAVE = 2.0  # for each child: what it could still finish is thrown away anyway
REMOVALS = 50  # tries to remove the folder, a tenth of a second apart, while a killed child's children still end
PATIENCE = 4  # how much slower agents and people are when a person watches
OWN_PREFIX = "factory-demo-"
# What makes waiting short: the forge is on this machine and asks for no restraint.
HASTE = {"FACTORY_POLL_SECONDS": "2", "FACTORY_REVIEW_NUDGE_MINUTES": "1", "FACTORY_REAPER_SECONDS": "2"}


def say(text: str) -> None:
    """Tell the person at the terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def play(*, once: bool, scenario: Path, port: int, seconds: int) -> int:
    """Play the scenario on a throw-away folder and return the exit code; nothing is left behind.

    130 when `--once` was interrupted. Raises ``Invalid`` or ``Permanent`` with one line when it cannot begin.
    """
    script = scenario_read(scenario)
    _git_required()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=OWN_PREFIX))
        stack.callback(_remove, folder)
        port = _port(port)
        patience = 1 if once else PATIENCE
        forge = _start_simulator(stack, folder, scenario, port, patience)
        home = folder / "home"
        settings = _settings(home, forge, port)
        _make_home(home, settings)
        policy_lay(home, script)
        environment = _environment(settings)
        url = f"http://127.0.0.1:{port}"
        client = Client(url, home / "admin.json")
        director = Director(client, home, script, once=once, seconds=seconds, say=say, paper=Paper(wants_colour()))
        pool = _pool(environment, url, folder, scenario, patience)
        family = Family([_control_plane(environment, port), pool], say, together=True)
        say("Starting a control plane, two workers and a simulated GitHub: all on this machine, all thrown away.")
        say("This takes about half a minute.")
        ended = family.run(until=director.tick)
        if not director.finished and not director.is_late:
            say("Stopped; nothing is left behind.")
            return (ended or 130) if once else 0
        return director.result()


def wants_colour() -> bool:
    """Whether a person's terminal reads this, and the person did not say NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _git_required() -> None:
    """Raise ``Invalid`` when this machine's git cannot serve repositories over HTTP."""
    if shutil.which("git") is None:
        raise Invalid("git_missing", "git is not installed; install it and start again: apt-get install git")
    asked = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=False)
    if not (Path(asked.stdout.strip()) / "git-http-backend").exists():
        raise Invalid(
            "git_http_backend_missing",
            "git http-backend is not installed, and the simulated GitHub serves its repositories with it; "
            "install the git package of your distribution that has it (Debian: git; Fedora: git-daemon)",
        )


def _remove(folder: Path) -> None:
    """Remove the folder; what a last process writes meanwhile is removed with the next try."""
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
    sys.stderr.write(f"demo: {folder} could not be removed; remove it by hand\n")


def _port(wanted: int) -> int:
    """The port that was asked for, else the usual one if nobody has it, else any free one."""
    for candidate in (wanted,) if wanted else (USUAL_PORT, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except (OSError, OverflowError):
                continue
            return int(probe.getsockname()[1])
    told = f"port {wanted} of 127.0.0.1 cannot be used; choose another one with --port" if wanted else "no port is free"
    raise Invalid("port_taken", told)


def _start_simulator(stack: ExitStack, folder: Path, scenario: Path, port: int, patience: int) -> dict[str, Any]:
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
        *("--patience", str(patience)),
        *("--parent-fd", str(read_end)),
    )
    log = folder / "simulator.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(  # argv is this product's own
            argv,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            pass_fds=(read_end,),
            start_new_session=True,
        )
    os.close(read_end)
    stack.callback(_end, process)
    line = process.stdout.readline() if process.stdout else b""
    if not line:
        told = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        reason = told[-1] if told else f"it ended with {process.wait()}"
        raise Permanent("simulator_failed", f"the simulated GitHub cannot start: {reason}")
    addresses: dict[str, Any] = json.loads(line)
    reached = folder / "forge.json"
    reached.touch(mode=0o600)
    reached.write_text(line.decode(), encoding="utf-8")  # whoever watches may ask it, too
    return {**addresses, "hookSecret": secret.read_text(encoding="ascii")}


def _settings(home: Path, forge: Mapping[str, Any], port: int) -> dict[str, str]:
    """The settings of the demo's control plane and of its pool."""
    return {
        **HASTE,
        "FACTORY_HOME": str(home),
        "FACTORY_DEMO": "1",
        "PORT": str(port),
        "GITHUB_API_URL": forge["apiUrl"],
        "GITHUB_GRAPHQL_URL": forge["graphqlUrl"],
        "GITHUB_SERVER_URL": forge["serverUrl"],
        "GITHUB_TOKEN": forge["token"],
        "GITHUB_WEBHOOK_SECRET": forge["hookSecret"],
    }


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """What the children see: nothing of the caller's own settings or credentials."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FACTORY_", "GITHUB_", "GH_")) and name not in {"DATABASE_URL", "REDIS_URL", "PORT"}
    }
    return {**kept, **settings, "PYTHONPATH": str(ROOT)}


def _make_home(home: Path, settings: Mapping[str, str]) -> None:
    """Make the data folder with its settings, so that commands in another shell act on the demo."""
    home.mkdir(mode=0o700)
    file = home / SETTINGS_FILE
    file.touch(mode=0o600)
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the simulated GitHub; its closing is nothing that anybody waits long for."""
    process.terminate()
    try:
        process.wait(SECONDS_TO_LEAVE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _leashed(*command: str) -> list[str]:
    """An argv of manage.py that ends with the demo, even when the demo is killed."""
    program = python(str(ROOT / "manage.py"), *command)
    return python("-m", "factory_site.serving.leash", "{lifeline}", str(SECONDS_TO_LEAVE), *program)


def _control_plane(environment: Mapping[str, str], port: int) -> Child:
    argv = _leashed("serve", "--port", str(port))
    return Child("control plane", argv, environment=environment, quiet=True, grace=SECONDS_TO_LEAVE + 2)


def _pool(environment: Mapping[str, str], url: str, folder: Path, scenario: Path, patience: int) -> Child:
    """The pool, whose workers run the scripted agent for every run that leaves the adapter to them."""
    agent = shlex.join([sys.executable, str(SIMULATOR / "agent.py"), str(scenario.resolve()), str(patience)])
    credential = folder / "home" / "secrets" / "worker-local.json"
    argv = _leashed(
        "supervise",
        *("--workers", str(WORKERS)),
        *("--interval", "0.5"),
        *("--url", url),
        *("--credential-file", str(credential)),
        *("--isolation", "none"),
        *("--drain-timeout", "1"),
        *("--command", agent),
    )
    return Child("pool", argv, environment=environment, quiet=True, needs=credential, grace=SECONDS_TO_LEAVE + 2)

"""The demo as a person meets it: a command, its output, its exit code, and nothing that stays behind."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.process.system import PROJECT, Process, wait_for

DEMO = PROJECT / "fixtures" / "simulator" / "demo.yaml"
WHOLE_SECONDS = 400.0  # of the whole cast on a machine that is busy with other things
START_SECONDS = 120.0
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked up in /proc")


def environment(folder: Path) -> dict[str, str]:
    """A folder of its own for everything temporary; it marks every process of the demo, too."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)}


def once(folder: Path, scenario: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Play to the end."""
    argv = [sys.executable, "manage.py", "demo", "--once"]
    argv += ["--scenario", str(scenario)] if scenario else []
    return subprocess.run(
        argv,
        cwd=PROJECT,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=WHOLE_SECONDS,
        check=False,
    )


def played(folder: Path) -> Process:
    """An interactive demo that shows its login."""
    argv = [sys.executable, "manage.py", "demo"]
    process = Process(argv, environment(folder), folder.with_suffix(".log"))
    wait_for("login on the terminal", lambda: "Login" in process.text(), seconds=START_SECONDS)
    return process


def processes_of(folder: Path) -> list[str]:
    """Command lines of the processes that the folder's demo started."""
    marked = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and f"TMPDIR={folder}".encode() in (place / "environ").read_bytes():
                marked.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return [each for each in marked if each]


def test_every_pull_request_of_the_shipped_demo_ends_as_it_says(tmp_path: Path) -> None:
    """GH-S31: the whole cast, exit 0, a table that shows each end, and no folder left."""
    done = once(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    cast = yaml.safe_load(DEMO.read_text(encoding="utf-8"))["pulls"]
    table = done.stdout.split("pull request  ")[1]
    assert len([line for line in table.splitlines() if line.startswith("acme/")]) == len(cast)
    assert "NOT AS EXPECTED" not in table
    assert "asks a person: Should half a cent" in done.stdout
    assert "the agent died before it could finish" in done.stdout
    assert "merged by somebody on GitHub" in done.stdout
    assert "\x1b" not in done.stdout, "no colour where nobody looks"
    assert list(tmp_path.glob("factory-demo-*")) == []


def test_an_end_that_nobody_expected_makes_exit_code_one(tmp_path: Path) -> None:
    """GH-S31: one pull request of the shipped cast, its expectation changed."""
    script = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    script["pulls"] = [{**pull, "expect": "merged"} for pull in script["pulls"] if pull["expect"] == "abandoned"]
    changed = tmp_path / "changed.yaml"
    changed.write_text(yaml.safe_dump(script), encoding="utf-8")
    done = once(tmp_path, changed)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NOT AS EXPECTED" in done.stdout


def test_ctrl_c_ends_every_process_and_removes_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = played(folder)
    assert "Nothing here is real" in process.text()
    assert f"FACTORY_HOME={next(folder.glob('factory-demo-*'))}/home" in process.text()
    assert process.end(signal.SIGINT, seconds=30) == 0, process.text()
    assert "Traceback" not in process.text()
    assert list(folder.glob("factory-demo-*")) == []
    assert not Path("/proc").exists() or processes_of(folder) == []


@needs_proc
def test_a_killed_demo_leaves_no_process(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = played(folder)
    assert len(processes_of(folder)) > 3
    process.popen.kill()
    process.end()
    wait_for("end of every process", lambda: not processes_of(folder), seconds=30)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("repositories: [", "broken.yaml: while parsing"),
        ("pulls: []\n", "broken.yaml: it needs repositories"),
        (
            "repositories: [{name: a/b, colour: red}]\npulls: [{repo: a/b, branch: x, title: X, expect: merged}]\n",
            "the simulated GitHub cannot start",
        ),
    ],
    ids=["no YAML", "no repositories", "a key that nobody knows"],
)
def test_a_scenario_that_cannot_be_played_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text(text, encoding="utf-8")
    done = once(tmp_path, broken)
    assert done.returncode == 1
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_a_port_that_somebody_has_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        argv = [sys.executable, "manage.py", "demo", "--once", "--port", str(port)]
        done = subprocess.run(
            argv, cwd=PROJECT, env=environment(tmp_path), capture_output=True, text=True, timeout=90, check=False
        )
    assert done.returncode == 1
    assert done.stderr == f"demo: port {port} of 127.0.0.1 cannot be used; choose another one with --port\n"


def test_a_git_that_cannot_serve_is_one_line(tmp_path: Path) -> None:
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "git").write_text(f"#!/bin/sh\necho {fake}\n", encoding="utf-8")
    (fake / "git").chmod(0o755)
    environ = {**environment(tmp_path), "PATH": f"{fake}:{os.environ['PATH']}"}
    argv = [sys.executable, "manage.py", "demo", "--once"]
    done = subprocess.run(argv, cwd=PROJECT, env=environ, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("demo: git http-backend is not installed")
    assert len(done.stderr.splitlines()) == 1

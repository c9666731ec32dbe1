"""The demo as a person meets it: a command, its output, its exit code, and nothing that stays behind."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.process.system import PROJECT, Process, wait_for

DEMO = PROJECT / "fixtures" / "simulator" / "demo.yaml"
CHAIN = DEMO.with_name("chain.yaml")
LANDED = "merged, and seen on its base"
EVERY_END = "Every pull request is at its end"
WHOLE_SECONDS = 400.0  # of the whole cast on a machine that is busy with other things
CHAIN_SECONDS = 240.0
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


def played(folder: Path, *flags: str) -> Process:
    """An interactive demo that shows its login."""
    argv = [sys.executable, "manage.py", "demo", *flags]
    process = Process(argv, environment(folder), folder.with_suffix(".log"))
    wait_for("login on the terminal", lambda: "Login" in process.text(), seconds=START_SECONDS)
    return process


class Watched:
    """An interactive demo, and what an onlooker with its login and its folder can ask."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.process = played(folder, *flags)
        (self._own,) = folder.glob("factory-demo-*")

    def get(self, path: str) -> Any:
        """What the API of the control plane answers."""
        login = json.loads((self._own / "home" / "admin.json").read_text())
        url = re.search(r"Console +(\S+)/", self.process.text())
        assert url is not None
        return answered(url[1] + path, login["token"])

    def pulls(self) -> list[Any]:
        """Every pull request in detail."""
        keys = [item["prKey"].replace("#", "/") for item in self.get("/api/v1/pull-requests")["items"]]
        return [self.get(f"/api/v1/pull-requests/{key}") for key in keys]

    def asked(self) -> list[Any]:
        """Every request that reached the simulated GitHub."""
        forge = json.loads((self._own / "forge.json").read_text())
        entries: list[Any] = answered(f"{forge['serverUrl']}/_sim/log", forge["controlToken"])["requests"]
        return entries

    def first_parents(self, branch: str) -> list[str]:
        """First lines of the commits of the one repository's branch since its beginning, the oldest first."""
        (repository,) = (self._own / "forge").rglob("*.git")
        argv = ["git", "log", "--first-parent", "--reverse", "--format=%s", branch]
        log = subprocess.run(argv, cwd=repository, capture_output=True, text=True, check=True)
        return log.stdout.splitlines()[1:]


def answered(url: str, token: str) -> Any:
    answer = requests.get(url, headers={"Authorization": f"Bearer {token}"}, timeout=15)
    assert answer.ok, f"{url}: {answer.status_code} {answer.text}"
    return answer.json()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """The chain as a person plays it, until Ctrl-C."""
    folder = tmp_path_factory.mktemp("watched")
    demo = Watched(folder, "--scenario", "chain")
    yield demo
    demo.process.end(signal.SIGINT)


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


def test_twenty_pull_requests_land_on_one_branch_in_the_order_of_their_dependencies(watched: Watched) -> None:
    """GH-S31, MG-S1, MG-H1: ten in a chain that was opened last first, ten beside it, and nobody asked."""
    wait_for("end of the chain", lambda: EVERY_END in watched.process.text(), seconds=CHAIN_SECONDS)
    sys.stdout.writelines(f"{line}\n" for line in watched.process.text().splitlines() if LANDED in line)
    branches = yaml.safe_load(CHAIN.read_text(encoding="utf-8"))
    titles = {pull["branch"]: pull["title"] for pull in branches["pulls"]}
    landed = [line.rpartition(" (#")[0] for line in watched.first_parents("main")]
    in_order = [titles[branch] for branch in branches["lands_in_order"]]
    assert [title for title in landed if title in in_order] == in_order
    assert sorted(landed) == sorted(titles.values()), "each landed once"
    merges = [entry for entry in watched.asked() if entry["operation"] == "merge"]
    assert len(merges) == len({entry["path"] for entry in merges}) == len(titles), "one call for each"
    assert watched.get("/api/v1/tasks")["items"] == [], "no person was needed"
    sent = [[each["headSha"] for each in pull["mergeAttempts"] if each["sentAt"]] for pull in watched.pulls()]
    assert sorted(map(len, sent)) == [1] * len(titles), "no try but one went as far as its call"


def test_ctrl_c_ends_every_process_and_removes_the_folder(watched: Watched) -> None:
    assert "Nothing here is real" in watched.process.text()
    assert f"FACTORY_HOME={next(watched.folder.glob('factory-demo-*'))}/home" in watched.process.text()
    assert watched.process.end(signal.SIGINT, seconds=30) == 0, watched.process.text()
    assert "Traceback" not in watched.process.text()
    assert list(watched.folder.glob("factory-demo-*")) == []
    assert not Path("/proc").exists() or processes_of(watched.folder) == []


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

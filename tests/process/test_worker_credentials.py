import json
import os
import signal
import subprocess
import sys

import pytest

from tests.process.serving import PROJECT, Served


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    running = Served(tmp_path_factory.mktemp("credentials") / "home")
    try:
        running.wait_until_up()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def manage(served, *argv):
    command = [sys.executable, "manage.py", *argv]
    return subprocess.run(command, cwd=PROJECT, env=served.environment, capture_output=True, text=True, check=False)


def test_a_worker_with_a_limited_credential_offers_what_it_may_and_leaves_when_told(served, tmp_path):
    target = tmp_path / "lab.json"
    issue = ["issue", "lab", "--repository", "acme/shop", "--url", served.credential["url"]]
    done = manage(served, "credentials", *issue, "--output", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    secret = json.loads(target.read_text())["token"]
    assert secret not in done.stdout

    argv = [sys.executable, "manage.py", "work", "--credential-file", str(target), "--command", "true"]
    argv += ["--worker-home", str(tmp_path / "worker")]
    # The worker's own data folder: nothing of the control plane's is within its reach.
    environment = {"PATH": os.environ["PATH"], "FACTORY_HOME": str(tmp_path / "elsewhere")}
    with (tmp_path / "log").open("wb") as log:
        worker = subprocess.Popen(argv, cwd=PROJECT, env=environment, stdout=log, stderr=log)

    def rows():
        assert worker.poll() is None, (tmp_path / "log").read_text()
        return [row for row in served.workers() if row["node"] == "lab"]

    try:
        served.until(lambda: [row["state"] for row in rows()] == ["idle"], "the worker is idle")
        offer = rows()[0]["offer"]
        assert offer["repositories"] == ["acme/shop"]
        assert "worktree" not in offer["workspaceKinds"]
        assert offer["labels"]["node"] == "lab"
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    finally:
        if worker.poll() is None:
            worker.kill()
    (row,) = [row for row in served.workers() if row["node"] == "lab"]
    assert row["state"] == "stopped"
    assert secret not in (tmp_path / "log").read_text()


def test_a_mistake_is_one_line_that_names_the_next_command(served):
    done = manage(served, "credentials", "rotate", "nowhere")
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "credentials list" in done.stderr

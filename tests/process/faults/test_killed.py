"""kill -9 of whatever is at work: the agent, its worker, the control plane, and a worker that only slept."""

import json
import signal
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.process.faults import aftermath
from tests.process.system import System, wait_for

pytestmark = aftermath.needs_git
PULL = "acme/shop#1"


def started(folder: Path) -> System:
    return System(folder, aftermath.scenario("slow"), **aftermath.FAST)


def agent_of(worker: Any) -> psutil.Process:
    """The scripted agent below a worker."""

    def found() -> Any:
        return next((one for one in worker.tree() if "agent.py" in " ".join(one.cmdline()[1:2])), None)

    agent: psutil.Process = wait_for("agent below the worker", found)
    return agent


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_an_agent_that_is_killed_is_replaced_in_the_next_turn_of_the_same_round(tmp_path: Path) -> None:
    with started(tmp_path) as system:
        system.serve()
        worker = system.work()
        aftermath.submit(system, PULL)
        aftermath.running_agent(system, PULL)
        agent_of(worker).kill()
        aftermath.assert_settled(system, PULL)
        pull = system.pull(PULL)
        assert sorted(run["state"] for run in pull["runs"]) == ["completed", "failed"]
        assert [(each["number"], len(each["turns"])) for each in pull["rounds"]] == [(1, 2)]


def test_a_worker_that_is_killed_takes_its_agent_with_it_and_another_one_finishes_the_run(tmp_path: Path) -> None:
    with started(tmp_path) as system:
        aftermath.allow_retries(system)
        system.serve()
        worker = system.work(1)
        aftermath.submit(system, PULL)
        run = aftermath.running_agent(system, PULL)
        agent = agent_of(worker)
        worker.popen.kill()
        wait_for("end of the agent", lambda: gone(agent), seconds=15)
        system.work(2)
        aftermath.assert_settled(system, PULL)
        attempts = system.get(f"/api/v1/runs/{run['runId']}")["attempts"]
        assert [attempt["reasonCode"] for attempt in attempts] == ["worker_lost", "ok"]


def test_a_cancelled_pull_request_stops_its_agent_and_takes_no_push(tmp_path: Path) -> None:
    """CV-S34, CV-H20: abandoned at once, the token says so, and nothing more reaches the branch."""
    with started(tmp_path) as system:
        system.serve()
        worker = system.work()
        aftermath.submit(system, PULL)
        run = aftermath.running_agent(system, PULL)
        agent = agent_of(worker)
        job = json.loads(Path(agent.environ()["AGENT_INPUT_FILE"]).read_text())
        still_wanted = job["variables"]["abandonUrl"]
        assert requests.get(still_wanted, timeout=10).json()["abandoned"] is False
        answer = system.call("POST", "/api/v1/pull-requests/acme/shop/1/cancel", {"reason": "Not needed any more."})
        assert (answer.status_code, answer.json()["state"]) == (200, "abandoned")
        assert requests.get(still_wanted, timeout=10).json()["abandoned"] is True
        wait_for("end of the agent", lambda: gone(agent), seconds=15)
        detail = system.get(f"/api/v1/runs/{run['runId']}")
        assert (detail["state"], detail["reason"]["code"]) == ("cancelled", "flow_cancelled")
        assert system.content("acme/shop", "feat/one", "one.txt") == "one\n"
        assert system.pull(PULL)["state"] == "abandoned"


def test_a_control_plane_that_is_killed_during_a_run_takes_the_result_of_that_same_attempt(tmp_path: Path) -> None:
    with started(tmp_path) as system:
        serving = system.serve()
        system.work()
        aftermath.submit(system, PULL)
        run = aftermath.running_agent(system, PULL)
        serving.kill_tree()
        system.serve()
        aftermath.assert_settled(system, PULL)
        attempts = system.get(f"/api/v1/runs/{run['runId']}")["attempts"]
        assert len(attempts) == 1, "nobody had to begin again"


def test_a_worker_that_slept_through_its_lease_publishes_nothing_when_it_wakes(tmp_path: Path) -> None:
    with started(tmp_path) as system:
        aftermath.allow_retries(system)
        system.serve()
        worker = system.work(1)
        aftermath.submit(system, PULL)
        run = aftermath.running_agent(system, PULL)
        agent = agent_of(worker)
        worker.popen.send_signal(signal.SIGSTOP)
        system.work(2)

        def taken_over() -> bool:
            return len(system.get(f"/api/v1/runs/{run['runId']}")["attempts"]) == 2

        wait_for("second attempt", taken_over, seconds=40)
        worker.popen.send_signal(signal.SIGCONT)
        aftermath.assert_settled(system, PULL)
        wait_for("word of the woken worker", lambda: "event=abandoned" in worker.text(), seconds=30)
        assert gone(agent)
        detail = aftermath.verify_run(system, run["runId"])
        assert [attempt["reasonCode"] for attempt in detail["attempts"]] == ["worker_lost", "ok"]

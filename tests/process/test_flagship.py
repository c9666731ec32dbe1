"""One pull request from submit to a commit proven on its base: real processes, real HTTP, real git."""

import shutil
from pathlib import Path

import pytest

from tests.process.system import PROJECT, System, canonical_hash, wait_for

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
DEMO = PROJECT / "fixtures" / "simulator" / "demo.yaml"
CALM_SECONDS = 60  # no due row may be older at the end


def verify_run(system: System, run_id: str) -> None:
    """Recompute the run's chain of journal rows and its receipt from what the API shows."""
    run = system.get(f"/api/v1/runs/{run_id}")
    receipt = system.get(f"/api/v1/runs/{run_id}/receipt")
    previous = run["specHash"]
    for row in run["journal"]:
        assert row["prevHash"] == previous, f"{run_id}: row {row['seq']} does not follow its predecessor"
        previous = row["recordHash"]
    assert run["journalHead"] == previous
    assert receipt["receiptHash"] == canonical_hash({k: v for k, v in receipt.items() if k != "receiptHash"})
    assert run["journal"][-1]["detail"]["receiptHash"] == receipt["receiptHash"]
    assert receipt["journalHead"] == run["journal"][-2]["recordHash"]
    accepted = [row for row in run["journal"] if row["to"] in {"completed", "refused"}]
    assert len(accepted) == 1, "one result, one acceptance"


def test_a_pull_request_is_reviewed_fixed_reviewed_again_and_merged(tmp_path: Path) -> None:
    """CV-S1, MG-S1, RU-H8: from submit to a landed commit, each step once, under the shipped policy."""
    with System(tmp_path, DEMO, policy="") as system:
        system.serve()
        system.work()
        submitted = system.manage("submit", "acme/shop#1")
        assert submitted.returncode == 0, submitted.stderr
        pull = system.wait_pull("acme/shop#1", "merged")

        assert "Sum of the items' prices in cents" in system.content("acme/shop", "main", "cart.py")
        assert pull["landedSha"]
        statuses = [(each["number"], each["status"]) for each in sorted(pull["rounds"], key=lambda row: row["number"])]
        assert statuses == [(1, "addressed"), (2, "addressed")]
        for run in pull["runs"]:
            verify_run(system, run["runId"])
        agents = sorted(run["agent"].partition("@")[0] for run in pull["runs"])
        assert agents == ["pr-review", "pr-review", "scope-classify"], "one run for each turn, one for the scope"
        assert pull["scope"] == {"result": "passed", "detail": ""}
        log = system.simulator("log")
        merges = [entry for entry in log["requests"] if entry["operation"] == "merge"]
        assert len(merges) == 1, "one merge call for the head"
        attempts = pull["mergeAttempts"]
        assert [(each["outcome"], each["reason"]) for each in attempts] == [("merged", "landed")]
        assert attempts[0]["headSha"] == pull["headSha"]
        wait_for("calm end", lambda: system.get("/api/v1/status")["oldestDueSeconds"] < CALM_SECONDS)
        assert system.get("/api/v1/status")["anomalies"] == []


def test_a_question_is_answered_through_the_api_and_resumes_the_same_round(tmp_path: Path) -> None:
    """CV-S10: needs_input makes one task; its answer reaches the next turn of the same round."""
    with System(tmp_path, DEMO) as system:
        system.serve()
        system.work()
        assert system.call("POST", "/api/v1/pull-requests", {"pullRequest": "acme/shop#2"}).status_code == 202
        system.wait_pull("acme/shop#2", "escalated")
        task = system.get("/api/v1/tasks?state=open")["items"][0]
        assert "half up" in task["question"]
        answer = {"variables": {"answer": "Half up."}, "seenHash": task["seenHash"]}
        assert system.call("POST", f"/api/v1/tasks/{task['id']}/complete", answer).status_code == 200
        assert system.call("POST", f"/api/v1/tasks/{task['id']}/complete", answer).status_code == 409
        pull = system.wait_pull("acme/shop#2", "merged")
        assert [(each["number"], len(each["turns"])) for each in pull["rounds"]] == [(1, 2)]
        assert "ROUND_HALF_UP" in system.content("acme/shop", "main", "pricing.py")

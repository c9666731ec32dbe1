"""What must hold after every fault: nothing lost, nothing done twice, every wait moves on."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.process.system import PROJECT, System, canonical_hash, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SCENARIOS = PROJECT / "tests" / "process" / "scenarios"
DUE_SECONDS = 60  # nothing that is due may be older at the end
END_SECONDS = 120.0  # for a pull request to reach its end after a fault
FAST = {
    "FACTORY_POLL_SECONDS": "1",
    "FACTORY_LIVENESS_SECONDS": "6",
    "FACTORY_HEARTBEAT_SECONDS": "2",
    "FACTORY_REAPER_SECONDS": "1",
}
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
needs_datefudge = pytest.mark.skipif(
    shutil.which("datefudge") is None, reason="datefudge is not installed: apt-get install datefudge"
)


def shifted(by: str) -> list[str]:
    """The command below which processes see their wall clock shifted: `1 hour`, or `1 hour ago`; timers are real."""
    return ["datefudge", by]


def scenario(name: str) -> Path:
    """One of the small scenarios."""
    return SCENARIOS / f"{name}.yaml"


def allow_retries(system: System) -> None:
    """Let a lost run be tried again by the queue, so that a test need not wait for the pause of the flow."""
    folder = system.home / "registry" / "agents"
    folder.mkdir(parents=True)
    definition = yaml.safe_load((PROJECT / "fixtures" / "agents" / "pr-review.yaml").read_text())
    definition["limits"] |= {"maxAttempts": 3, "maxEnvironmentRetries": 3}
    (folder / "pr-review.yaml").write_text(yaml.safe_dump(definition))


def submit(system: System, *keys: str) -> None:
    """Hand the pull requests over."""
    for key in keys:
        answer = system.call("POST", "/api/v1/pull-requests", {"pullRequest": key})
        assert answer.status_code == 202, answer.text


def running_agent(system: System, key: str) -> dict[str, Any]:
    """Wait until an agent works for the pull request; return its run."""

    def found() -> Any:
        runs = system.pull(key)["runs"]
        return next((run for run in runs if run["state"] == "running"), None)

    run: dict[str, Any] = wait_for(f"running agent of {key}", found)
    return run


def holds(what: str, fact: Callable[[], Any], *, seconds: float) -> None:
    """Look again and again for so long; fail with ``what`` at the first look at which the fact is false."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert fact(), what
        time.sleep(0.5)


def merge_calls(system: System) -> Counter[str]:
    """How often each pull request's merge was asked for, by its path, refused calls included."""
    return Counter(entry["path"] for entry in system.simulator("log")["requests"] if entry["operation"] == "merge")


def verify_run(system: System, run_id: str) -> dict[str, Any]:
    """Recompute the run's chain of journal rows and its receipt from what the API shows; return the run."""
    run: dict[str, Any] = system.get(f"/api/v1/runs/{run_id}")
    previous = run["specHash"]
    for row in run["journal"]:
        assert row["prevHash"] == previous, f"{run_id}: row {row['seq']} does not follow its predecessor"
        previous = row["recordHash"]
    assert run["journalHead"] == previous
    accepted = [row for row in run["journal"] if row["to"] in {"completed", "refused"}]
    assert len(accepted) == (run["state"] in {"completed", "refused"}), f"{run_id}: {len(accepted)} results accepted"
    if accepted:
        receipt = system.get(f"/api/v1/runs/{run_id}/receipt")
        assert receipt["receiptHash"] == canonical_hash({k: v for k, v in receipt.items() if k != "receiptHash"})
        assert accepted[0]["detail"]["receiptHash"] == receipt["receiptHash"]
    return run


def assert_settled(
    system: System, *keys: str, merges: int = 1, seconds: float = END_SECONDS, anomalies: Sequence[str] = ()
) -> None:
    """Every pull request is merged, by so many calls each; every journal verifies; nothing is late or out of order.

    ``anomalies`` are the codes that the doctor must still tell, none as a rule.
    """
    pulls = {key: system.wait_pull(key, "merged", seconds=seconds) for key in keys}
    calls = merge_calls(system)
    for key, pull in pulls.items():
        repository, _, number = key.partition("#")
        assert calls[f"/api/v3/repos/{repository}/pulls/{number}/merge"] == merges, calls
        assert pull["landedSha"]
        landed = [attempt for attempt in pull["mergeAttempts"] if attempt["outcome"] == "merged"]
        assert len(landed) == 1, pull["mergeAttempts"]
        heads = [attempt["headSha"] for attempt in pull["mergeAttempts"] if attempt["sentAt"]]
        assert len(heads) == len(set(heads)), "one call for each head"
        turns = [(each["number"], turn["runId"]) for each in pull["rounds"] for turn in each["turns"]]
        assert len(turns) == len(set(turns)) == len(pull["runs"]), "one run for each turn"
        for run in pull["runs"]:
            verify_run(system, run["runId"])
    wait_for("calm end", lambda: system.get("/api/v1/status")["oldestDueSeconds"] < DUE_SECONDS)
    told: list[Any] = []

    def as_expected() -> bool:
        told[:] = system.get("/api/v1/status")["anomalies"]
        return [each["code"] for each in told] == list(anomalies)

    with contextlib.suppress(AssertionError):  # a worker that was cut off needs a moment to be heard of again
        wait_for("expected anomalies", as_expected)
    assert as_expected(), told
    assert system.get("/api/v1/tasks?state=open")["items"] == []
    checked = system.manage("verify_journal")
    assert checked.returncode == 0, checked.stdout
    left = [text for text in system.simulator("leftovers")["leftovers"] if "was never read" not in text]
    assert left == [], f"unstruck, written twice, or unknown to GitHub: {left}"

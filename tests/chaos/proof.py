"""What must hold after the storm, read from journal, API and process table alone."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import requests

from tests.chaos.load import REST
from tests.process.faults.aftermath import verify_run
from tests.process.system import wait_for

if TYPE_CHECKING:
    from tests.chaos.field import Field
    from tests.chaos.load import Load

CALM_SECONDS = 420.0  # the longest pause between two tries is five minutes
TELLS_OF_THE_PAST = frozenset({"node_failing", "worker_lost"})  # doctor's rows about the last minutes, not about now


def come_to_rest(field: Field, load: Load) -> None:
    """Wait until every key has its run and every run is at rest; what dies in the calm is started again."""

    def rested() -> bool:
        field.tend()
        with contextlib.suppress(requests.RequestException):
            return load.repeat_unheard() and not _restless(field)
        return False

    try:
        wait_for("rest of every run", rested, seconds=CALM_SECONDS)
    except AssertionError as error:
        waiting = [(run["runId"], run["state"], run["waiting"]) for run in _restless(field)]
        raise AssertionError(f"{error}: {waiting}") from None


def _restless(field: Field) -> list[dict[str, Any]]:
    """The newest runs that are not at rest."""
    items = field.system.get("/api/v1/runs?agent=chaos&limit=200")["items"]
    return [run for run in items if run["state"] not in REST]


def prove(field: Field, load: Load) -> list[str]:
    """Everything that does not hold, a line each."""
    wrong: list[str] = []
    for key, run_id in load.runs.items():
        try:
            wrong += _run_faults(key, verify_run(field.system, str(run_id)))
        except AssertionError as error:
            wrong.append(f"{run_id}: its chain or its receipt does not verify: {error}")
    wrong += _strangers(field, load)
    wrong += [f"left of an agent: {one.pid} {one.cmdline()}" for one in field.left_of_agents()]
    checked = field.system.manage("verify_journal")
    if checked.returncode != 0:
        wrong.append(f"verify_journal: {checked.stdout}")
    for home in field.homes():
        done = field.system.manage("work", "--worker-home", str(home), "--purge-quarantine")
        if done.returncode != 0:
            wrong.append(f"--purge-quarantine: {done.stderr}")
    doctor = json.loads(field.system.manage("doctor", "--json").stdout)
    wrong += [
        f"doctor: {each['code']}: {each['text']}"
        for each in doctor["items"]
        if each["level"] == "anomaly" and each["code"] not in TELLS_OF_THE_PAST
    ]
    return wrong


def _run_faults(key: str, run: dict[str, Any]) -> list[str]:
    """One run: it rests, ended once, and what was accepted is of its newest attempt."""
    name = run["runId"]
    wrong = []
    states = [row["to"] for row in run["journal"] if row["kind"] == "transition"]
    ended = [state for state in states if state in REST - {"failed"}]
    if run["state"] not in REST or states[-1] != run["state"]:
        wrong.append(f"{name}: {run['state']}, its journal says {states[-1]}")
    if len(ended) != (run["state"] != "failed"):
        wrong.append(f"{name}: ended {len(ended)} times: {states}")
    if any(attempt["finishedAt"] is None for attempt in run["attempts"]):
        wrong.append(f"{name}: an attempt is unfinished")
    if run["state"] == "completed":
        newest = run["attempts"][-1]["attempt"]
        claimed = run["result"]["artifact"]
        if claimed != {"attempt": f"{name}-a{newest}", "key": key} or run["result"]["attempt"] != newest:
            wrong.append(f"{name}: attempt {newest} is the newest, accepted was {claimed}")
    return wrong


def _strangers(field: Field, load: Load) -> list[str]:
    """Runs that no key stands for, and keys that have none."""
    found: set[str] = set()
    before = ""
    while True:
        page = field.system.get(f"/api/v1/runs?agent=chaos&limit=200{before}")
        found |= {run["runId"] for run in page["items"]}
        if not page["nextBefore"]:
            break
        before = f"&before={page['nextBefore']}"
    return [
        f"{run}: a run of no key, or a key without its run" for run in found ^ {str(run) for run in load.runs.values()}
    ]

"""The scripted agent as a process in a real checkout, and the shipped demo played with it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fixtures.simulator import ManualClock, Simulator
from fixtures.simulator.scenario import ScenarioError, scenario_play, scenario_read
from tests.unit.simulator.conftest import Client, Git

FOLDER = Path(__file__).parents[3] / "fixtures" / "simulator"
DEMO = FOLDER / "demo.yaml"


def play(
    sim: Simulator,
    folder: Path,
    branch: str,
    variables: dict[str, Any],
    *,
    agent: str = "pr-review",
    scenario: Path = DEMO,
) -> tuple[subprocess.CompletedProcess[str], Any]:
    """Run one turn of the agent in a fresh checkout; return the process and its result, None when there is none."""
    folder.mkdir()
    Git(folder, sim.token)("clone", "-q", "--branch", branch, f"{sim.server_url}/acme/shop.git", "work")
    job = folder / "input.json"
    job.write_text(json.dumps({"agent": agent, "prompt": "", "attempt": 1, "variables": variables}))
    result = folder / "result.json"
    helper = "!f() { echo username=x-access-token; echo password=$TOKEN; }; f"
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TOKEN": sim.token,
        "AGENT_INPUT_FILE": str(job),
        "AGENT_RESULT_FILE": str(result),
        "AGENT_REPO_BRANCH": branch,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "credential.helper",
        "GIT_CONFIG_VALUE_0": helper,
    }
    done = subprocess.run(
        [sys.executable, str(FOLDER / "agent.py"), str(scenario)],
        cwd=folder / "work",
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done, json.loads(result.read_text()) if result.exists() else None


@pytest.fixture
def demo(sim: Simulator) -> dict[str, Any]:
    """The shipped scenario, opened."""
    return scenario_play(sim.verbs, scenario_read(DEMO))


def variables(pull: Any, **more: Any) -> dict[str, Any]:
    """What the product tells an agent about a pull request."""
    threads = [
        {"id": t.node_id, "path": t.path, "line": t.line, "comments": [{"body": c.body} for c in t.comments]}
        for t in pull.threads
        if not t.is_resolved
    ]
    facts = {"prKey": pull.key, "repo": pull.repo.full_name, "prNumber": pull.number, "headRef": pull.head_ref}
    return {**facts, "round": 1, "turn": 1, "backlog": {"threads": threads, "advisories": []}, **more}


@pytest.mark.usefixtures("demo")
def test_the_first_pull_of_the_demo_takes_two_rounds_and_a_clean_review(
    sim: Simulator, client: Client, clock: ManualClock, tmp_path: Path
) -> None:
    pull = sim.world.pull("acme/shop#1")
    clock.advance(3)
    assert [t.line for t in pull.threads] == [1, 2]
    for number in (1, 2):
        before = pull.head_sha
        done, result = play(sim, tmp_path / str(number), "feat/total", variables(pull, round=number))
        assert done.returncode == 0, done.stderr
        assert result["status"] == "addressed"
        assert {t["id"] for t in result["threads"]} == {t.node_id for t in pull.threads if not t.is_resolved}
        assert pull.head_sha != before
        for thread in result["threads"]:
            sim.verbs.resolve(thread["id"])
        login = {"reviewers": ["copilot-pull-request-reviewer[bot]"]}
        client.rest("POST", "/repos/acme/shop/pulls/1/requested_reviewers", login)
        clock.advance(3)
    assert "generated no comments" in pull.reviews[-1].body
    assert pull.reviews[-1].commit_sha == pull.head_sha
    client.rest("GET", "/repos/acme/shop/pulls/1")
    assert client.rest("GET", "/repos/acme/shop/pulls/1").json()["mergeable_state"] == "clean"


def test_the_second_pull_of_the_demo_asks_a_person_and_goes_on_with_the_answer(
    sim: Simulator, clock: ManualClock, demo: Any, tmp_path: Path
) -> None:
    pull = sim.world.pull("acme/shop#2")
    clock.advance(3)
    before = pull.head_sha
    done, result = play(sim, tmp_path / "1", "feat/rounding", variables(pull))
    assert done.returncode == 0
    assert (result["status"], pull.head_sha) == ("needs_input", before)
    answer = demo["pulls"][1]["answers"][0]
    assert answer["match"] in result["question"]
    facts = variables(pull, turn=2, answer=answer["variables"]["answer"], question=result["question"])
    done, result = play(sim, tmp_path / "2", "feat/rounding", facts)
    assert "A person answered" in done.stdout
    assert (result["status"], pull.head_sha != before) == ("addressed", True)


def test_every_pull_of_the_demo_has_an_expectation_and_an_agent() -> None:
    for pull in scenario_read(DEMO)["pulls"]:
        assert pull["expect"] in {"merged", "converged", "abandoned"}
        assert pull["agent"]


def test_an_unknown_key_of_a_scenario_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(yaml.safe_dump({"repositories": [{"name": "a/b", "colour": "red"}]}))
    with pytest.raises(ScenarioError, match="colour"):
        scenario_read(path)


@pytest.mark.usefixtures("demo")
def test_a_turn_that_no_entry_names_has_nothing_left_to_do(sim: Simulator, tmp_path: Path) -> None:
    pull = sim.world.pull("acme/shop#1")
    done, result = play(sim, tmp_path / "1", "feat/total", variables(pull, round=9))
    assert done.returncode == 0
    assert result["status"] == "converged"
    _, result = play(sim, tmp_path / "2", "feat/total", {"repo": "acme/shop"}, agent="scope-classify")
    assert result == {"scopeBlocked": False}


@pytest.mark.usefixtures("demo")
def test_an_agent_that_cannot_ask_whether_it_is_still_wanted_does_not_push(sim: Simulator, tmp_path: Path) -> None:
    pull = sim.world.pull("acme/shop#1")
    before = pull.head_sha
    nobody = "http://127.0.0.1:9/hooks/abandon?token=x"
    done, result = play(sim, tmp_path / "1", "feat/total", variables(pull, abandonUrl=nobody))
    assert "Stopped before the push" in done.stdout
    assert result["summary"].startswith("Stopped before the push")
    assert pull.head_sha == before


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("entry", "code", "has_result", "pushed"),
    [
        ({"exit_code": 3}, 3, True, True),
        ({"no_result": True}, 0, False, True),
        ({"no_push": True}, 0, True, False),
        ({"die": True}, -signal.SIGKILL, False, False),
        ({"crash_after_push": True}, -signal.SIGKILL, False, True),
        ({"status": "perhaps"}, 0, True, True),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_an_agent_misbehaves_as_its_entry_says(
    sim: Simulator, tmp_path: Path, *, entry: Any, code: int, has_result: bool, pushed: bool
) -> None:
    pull = sim.world.pull("acme/shop#1")
    before = pull.head_sha
    commits = [{"message": "Change", "files": {"cart.py": "x = 1\n"}}]
    script = {"pulls": [{"repo": "acme/shop", "branch": "feat/total", "agent": [{"commits": commits, **entry}]}]}
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(script))
    done, result = play(sim, tmp_path / "1", "feat/total", variables(pull), scenario=path)
    assert (done.returncode, result is not None, pull.head_sha != before) == (code, has_result, pushed)
    assert not result or result["status"] == entry.get("status", "addressed")

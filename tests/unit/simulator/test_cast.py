"""What a scenario brings to life: a repository's past, people who act by hand, a fork."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from fixtures.simulator import ManualClock, Simulator
from fixtures.simulator.cast.history import HistoryError, history_read
from fixtures.simulator.scenario import ScenarioError, scenario_play, scenario_read

NOW = datetime(2030, 5, 1, 12, tzinfo=UTC)
DEMO = Path(__file__).parents[3] / "fixtures" / "simulator" / "demo.yaml"


def test_a_history_grows_each_file_into_what_it_is() -> None:
    files = {"a.py": "1\n2\n3\n", "b.py": "b\n", "untold.md": "u\n"}
    past = history_read(
        ["9 mira a.py: Begin a", "8 jonas b.py: Add b", "2 mira a.py: Finish a"], files, now=NOW, founder="acme"
    )
    assert [(commit.login, commit.message, dict(commit.files)) for commit in past] == [
        ("acme", "Begin", {"untold.md": "u\n"}),
        ("mira", "Begin a", {"a.py": "1\n2\n"}),
        ("jonas", "Add b", {"b.py": "b\n"}),
        ("mira", "Finish a", {"a.py": "1\n2\n3\n"}),
    ]
    instants = [commit.at for commit in past]
    assert instants == sorted(instants)
    assert NOW - instants[-1] > timedelta(days=2)


@pytest.mark.parametrize("line", ["mira a.py: Begin", "3 mira b.py: Add what is not there", "3 mira a.py:"])
def test_a_line_that_fits_no_file_or_form_is_named(line: str) -> None:
    with pytest.raises(HistoryError, match=r"b\.py|DAYS LOGIN PATH"):
        history_read([line], {"a.py": "1\n"}, now=NOW, founder="acme")


def test_the_demo_has_three_repositories_with_a_hundred_commits_of_people(sim: Simulator) -> None:
    scenario = scenario_read(DEMO)
    scenario_play(sim.verbs, scenario)
    authors: list[str] = []
    for entry in scenario["repositories"]:
        repo = sim.world.find_repository(entry["name"])
        assert repo is not None
        authors += sim.git.git(repo.id, "log", "--format=%an", repo.default_branch).decode().split()
        for path, content in entry["files"].items():
            assert (sim.git.show(repo.id, repo.branches[repo.default_branch], path) or b"").decode() == content
    assert len(scenario["repositories"]) == 3
    assert len(authors) >= 100
    assert len(set(authors)) >= 4


def played(sim: Simulator, people: list[dict[str, Any]], patience: float = 1, **pull: Any) -> Any:
    """A repository whose check fails on BUG, and one pull request with people."""
    checks = [{"name": "test", "after": 1, "fails_if": {"path": "a.py", "contains": "BUG"}, "required": True}]
    scenario = {
        "repositories": [{"name": "acme/shop", "files": {"a.py": "1\n"}, "checks": checks}],
        "pulls": [
            {"repo": "acme/shop", "branch": "x", "title": "X", "files": {"a.py": "2\n"}, "people": people, **pull}
        ],
    }
    scenario_play(sim.verbs, yaml.safe_load(yaml.safe_dump(scenario)), patience=patience)
    return sim.world.pull("acme/shop#1")


def test_somebody_merges_by_hand_after_their_patience(sim: Simulator, clock: ManualClock) -> None:
    pull = played(sim, [{"who": "jonas", "does": "merge", "after": 10}], patience=2)
    clock.advance(19)
    assert pull.state == "OPEN"
    clock.advance(1)
    assert (pull.state, pull.merged_by.login) == ("MERGED", "jonas")


def test_somebody_runs_a_failed_check_again(sim: Simulator, clock: ManualClock) -> None:
    rerun = {"who": "jonas", "does": "rerun", "trigger": "failed", "after": 5}
    pull = played(sim, [rerun], files={"a.py": "BUG\n"})
    clock.advance(1)
    runs = pull.repo.check_runs[pull.head_sha]
    assert [run.conclusion for run in runs] == ["FAILURE"]
    clock.advance(5)
    assert [run.conclusion for run in runs] == ["FAILURE", "SUCCESS"]


def test_somebody_speaks_after_a_push(sim: Simulator, clock: ManualClock) -> None:
    pull = played(sim, [{"who": "mira", "does": "comment", "trigger": "pushed", "text": "Nice."}])
    clock.advance(1)
    assert pull.comments == []
    sim.verbs.push("acme/shop", "x", {"a.py": "3\n"})
    clock.advance(1)
    assert [(each.author.login, each.body) for each in pull.comments] == [("mira", "Nice.")]


def test_a_branch_may_lie_in_a_fork(sim: Simulator) -> None:
    pull = played(sim, [], fork="tomasz", by="tomasz")
    assert pull.head_repo.full_name == "tomasz/shop"
    assert pull.author.association == "CONTRIBUTOR"


@pytest.mark.parametrize("act", [{"who": "x", "does": "dance"}, {"who": "x", "does": "merge", "when": "now"}])
def test_an_act_that_nobody_knows_is_named(sim: Simulator, act: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="pull x"):
        played(sim, [act])

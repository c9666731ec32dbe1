import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from factory_site.demo.__main__ import parser
from factory_site.demo.played import pulls_of
from factory_site.demo.scenarios import SIMULATOR, policy_lay, scenario_file, scenario_names, scenario_read
from runs.contract.errors import Invalid

WHOLE = "repositories: [{name: a/b}]\npulls: [{repo: a/b, branch: x, title: X, expect: merged}]\n"


def test_shipped_scenarios_go_by_their_names_and_the_help_lists_them():
    assert scenario_names() == ["demo", "chain"]
    assert scenario_file("chain") == SIMULATOR / "chain.yaml"
    assert scenario_file("own/file.yaml") == Path("own/file.yaml")
    assert "demo, chain, or a file of your own" in " ".join(parser().format_help().split())


@pytest.mark.parametrize("name", scenario_names())
def test_every_shipped_scenario_can_be_read(name):
    assert list(pulls_of(scenario_read(scenario_file(name))))


def test_an_order_of_unknown_branches_is_refused(tmp_path):
    script = tmp_path / "own.yaml"
    script.write_text(WHOLE + "lands_in_order: [x, y]\n")
    with pytest.raises(Invalid, match=r"own\.yaml: lands_in_order names no branch of its: y$"):
        scenario_read(script)


def test_a_policy_of_the_scenario_is_laid_into_the_data_folder(tmp_path):
    policy_lay(tmp_path, {})
    assert not (tmp_path / "policy.yaml").exists()
    policy_lay(tmp_path, {"policy": {"convergence": {"scopeCheck": "closing"}}})
    assert yaml.safe_load((tmp_path / "policy.yaml").read_text()) == {"convergence": {"scopeCheck": "closing"}}


def test_the_chain_names_each_step_by_the_one_before_it():
    """The bodies alone put the ten steps in order; they are opened last step first."""
    script = scenario_read(scenario_file("chain"))
    numbers = {pull.branch: pull.key.partition("#")[2] for pull in pulls_of(script)}
    bodies = {pull["branch"]: pull.get("body", "") for pull in script["pulls"]}
    order = script["lands_in_order"]
    assert len(order) == 10
    for before, after in pairwise(order):
        assert re.findall(r"Depends-on: #(\d+)", bodies[after]) == [numbers[before]]
    beside = [branch for branch in bodies if branch not in order]
    assert len(beside) == 10
    assert not any("Depends-on" in bodies[branch] for branch in beside)
    assert [int(numbers[branch]) for branch in order] == sorted((int(numbers[b]) for b in order), reverse=True)

"""What the base branch declares about landing: the gate that no word of the forge opens."""

import json

import pytest

from merging.models import MergeProtocol
from merging.selectors import merge_detail
from tests.db.merging.stage import REPO


def declare(stage, text, path=".github/merge-protocol.json"):
    stage.repository()
    content = json.dumps(text) if isinstance(text, dict) else text
    stage.sim.verbs.push(REPO, "main", {path: content}, "Declare")


def test_a_red_declared_check_never_merges_although_the_forge_calls_it_unstable(stage):
    """MG-S11, MG-H3: the declared gate comes before the forge's word."""
    declare(stage, {"requiredChecks": ["test"]})
    stage.config(max_ci_fix_rounds=0)
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_check(pull, "test", "FAILURE")
    stage.converged(pull)
    stage.settle()
    assert stage.calls() == 0
    assert stage.flow.verdict_inputs["mergeState"] == "UNSTABLE"
    assert (stage.flow.verdict, stage.flow.verdict_reason) == ("blocked", "checks_failing")
    detail = merge_detail(stage.pull)["mergeability"]
    assert [check["name"] for check in detail["failingChecks"]] == ["test"]
    assert detail["declaredChecks"] == [{"name": "test", "state": "failing"}]


@pytest.mark.parametrize(
    ("conclusion", "reason"), [(None, "checks_pending"), ("SKIPPED", "checks_failing"), ("SUCCESS", "")]
)
def test_a_declared_check_counts_by_what_its_entry_accepts(stage, conclusion, reason):
    declare(stage, {"requiredChecks": ["test"]})
    stage.config(max_ci_fix_rounds=0)
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_check(pull, "test", conclusion)
    stage.converged(pull)
    stage.settle()
    assert stage.flow.verdict_reason == reason
    assert (stage.flow.state == "merged") == (not reason)


def test_a_declared_check_without_a_run_is_waited_for(stage):
    """MG-S11: absent waits."""
    declare(stage, {"requiredChecks": ["test"]})
    pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    assert (stage.flow.state, stage.flow.verdict_reason) == ("waiting_merge", "check_missing")
    assert stage.calls() == 0


def test_the_block_in_the_agents_file_comes_first(stage):
    declare(stage, '# Agents\n\n```merge-protocol\n{"requiredChecks": ["lint"]} // ours\n```\n', "AGENTS.md")
    declare(stage, {"requiredChecks": ["test"]})
    stage.converged(stage.pull_on_forge())
    stage.settle()
    kept = MergeProtocol.objects.get()
    assert (kept.source, kept.valid) == ("AGENTS.md", True)
    assert kept.parsed is not None
    assert kept.parsed["requiredChecks"][0]["name"] == "lint"


def test_a_head_cannot_loosen_its_own_gate(stage):
    declare(stage, {"requiredChecks": ["test"]})
    pull = stage.pull_on_forge(files={".github/merge-protocol.json": "{}"})
    stage.converged(pull)
    stage.settle()
    assert stage.flow.verdict_reason == "check_missing"


def test_a_file_that_breaks_leaves_the_last_valid_one_in_force(stage):
    """MG-S28: the last valid version applies."""
    declare(stage, {"requiredChecks": ["test"]})
    stage.converged(stage.pull_on_forge())
    stage.settle()
    declare(stage, '{"requiredChecks": "test"}')
    stage.settle()
    assert stage.flow.verdict_reason == "check_missing"
    shown = merge_detail(stage.pull)["mergeProtocol"]
    assert (shown["valid"], shown["error"]) == (False, "requiredChecks: it should be a list of at most 100 checks")


def test_a_file_that_never_was_valid_holds_and_says_why(stage):
    """MG-S28: with none known it waits and says why; a mended file lets it go on."""
    declare(stage, "{")
    stage.converged(stage.pull_on_forge())
    stage.settle()
    assert (stage.flow.state, stage.flow.verdict_reason) == ("waiting_merge", "protocol_invalid")
    assert stage.calls() == 0

    declare(stage, "{}")
    stage.settle()
    assert stage.flow.state == "merged"


def test_the_declaration_is_read_once_for_each_commit_of_the_base(stage):
    declare(stage, {"requiredChecks": ["test"]})
    stage.converged(stage.pull_on_forge())
    stage.settle()
    before = stage.sim.log.count("get_contents")
    for _ in range(5):
        stage.look()
    assert stage.sim.log.count("get_contents") == before


def test_the_declared_method_lands_it(stage):
    declare(stage, {"land": {"mergeMethod": "rebase"}})
    stage.converged(stage.pull_on_forge())
    stage.settle()
    assert stage.attempts[0].method == "rebase"

"""A head without any run of its checks: CI is made to run once, as the base declares."""

import json

import pytest

from merging.models import MergeRemedy
from runs.models import HumanTask
from tests.db.merging.stage import REPO


def declared(stage, fresh, **pull):
    """A converged pull request whose declared check has no run on its head."""
    stage.repository()
    text = json.dumps({"requiredChecks": ["test"], "freshHeadRun": fresh})
    stage.sim.verbs.push(REPO, "main", {".github/merge-protocol.json": text}, "Declare")
    made = stage.pull_on_forge(**pull)
    stage.converged(made)
    stage.settle()
    return made


def test_an_absent_declared_check_is_begun_once_for_a_head(stage):
    """MG-S11: a fresh head run, not before CI has had the time to begin by itself."""
    pull = declared(stage, "reopen")
    assert stage.sim.log.count("edit_pull") == 0
    stage.passes(minutes=3)
    stage.settle()
    assert stage.sim.log.count("edit_pull") == 2  # closed, and open again
    assert (pull.state, stage.flow.state) == ("OPEN", "waiting_merge")
    remedy = MergeRemedy.objects.get()
    assert (remedy.kind, remedy.outcome) == ("reopen", "done")

    stage.passes(minutes=10)
    stage.settle()
    assert stage.sim.log.count("edit_pull") == 2
    stage.sim.verbs.add_check(pull, "test", "SUCCESS")
    stage.settle()
    assert stage.flow.state == "merged"


def test_the_gap_between_closing_and_opening_ends_nothing(stage):
    pull = declared(stage, "reopen")
    stage.passes(minutes=3)
    stage.sim.faults.fail_next("edit_pull", 502)
    stage.look()
    stage.deliver()
    stage.sim.verbs.close(pull)
    stage.look()
    assert stage.flow.state == "waiting_merge"
    stage.passes(minutes=3)
    stage.look()
    assert stage.flow.state == "abandoned"


def test_a_draft_is_marked_ready_where_the_base_allows_it(stage):
    pull = declared(stage, "ready_or_reopen", draft=True)
    stage.passes(minutes=3)
    stage.settle()
    assert not pull.draft
    assert not HumanTask.objects.filter(state="open").exists()
    assert MergeRemedy.objects.get().kind == "ready"


@pytest.mark.parametrize(("fresh", "draft"), [("none", False), ("ready", False), ("reopen", True)])
def test_what_the_base_does_not_allow_is_not_done(stage, fresh, draft):
    declared(stage, fresh, draft=draft)
    stage.passes(minutes=3)
    stage.settle()
    assert not MergeRemedy.objects.exists()
    assert stage.flow.state == ("escalated" if draft else "waiting_merge")

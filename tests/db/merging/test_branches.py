"""Branches: only one that the product made is deleted, and only once it is proven landed."""

import pytest

from merging.models import OwnBranch
from runs.clock import now
from tests.db.merging.stage import BRANCH, REPO

ALLOWED = "reviewers: []\nmerging: {deleteBranches: true}\n"


def made_here(stage):
    OwnBranch.objects.create(repository_id=stage.repository().id, name=BRANCH, made_by="flow:plan:x", made_at=now())


def test_a_branch_of_the_product_is_deleted_when_it_has_landed(stage):
    stage.policy(ALLOWED)
    pull = stage.pull_on_forge()
    made_here(stage)
    stage.converged(pull)
    stage.settle()
    stage.deliver()
    assert stage.flow.state == "merged"
    assert BRANCH not in stage.repository().branches
    assert OwnBranch.objects.get().deleted_at is not None


@pytest.mark.parametrize("doubt", ["not_ours", "not_allowed", "moved", "used"])
def test_every_doubt_keeps_the_branch(stage, doubt):
    """MG-H12: a branch without proof of landing is never deleted."""
    if doubt != "not_allowed":
        stage.policy(ALLOWED)
    pull = stage.pull_on_forge()
    if doubt != "not_ours":
        made_here(stage)
    if doubt == "used":
        stage.pull_on_forge("feat/upper", base=BRANCH)
    stage.converged(pull)
    for _ in range(12):
        stage.look()
        if stage.flow.state == "merged":
            break
        stage.deliver()
        if stage.flow.state == "verifying_landing" and doubt == "moved":
            stage.sim.verbs.push(REPO, BRANCH, {"late.py": "z = 1\n"}, "Late")
    stage.deliver()
    stage.deliver()
    assert stage.flow.state == "merged"
    assert BRANCH in stage.repository().branches
    assert stage.sim.log.count("delete_ref") == 0


def test_an_abandoned_pull_request_keeps_its_branch(stage):
    """MG-H12: no cancel and no closing ever deletes one."""
    stage.policy(ALLOWED)
    pull = stage.pull_on_forge(draft=True)
    made_here(stage)
    stage.converged(pull)
    stage.settle()
    stage.cancel()
    stage.deliver()
    assert BRANCH in stage.repository().branches

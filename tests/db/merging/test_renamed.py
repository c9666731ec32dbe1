from tests.db.merging.stage import REPO
from tests.db.merging.test_merge_call import ready


def test_a_repository_that_moved_while_it_waited_is_merged_under_its_new_name(stage):
    """GH-S12: transferred to another owner during the wait for the merge."""
    stage.repository()
    stage.sim.verbs.protect(REPO, approvals=1)
    pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    repo = stage.sim.verbs.rename(REPO, "globex/store")
    stage.sim.verbs.protect(repo)
    stage.settle()

    assert pull.state == "MERGED"
    assert stage.pull.key == f"globex/store#{pull.number}"
    assert (stage.pull.state, stage.flow.repository_id) == ("merged", repo.id)


def test_a_repository_that_moves_between_decision_and_call_is_merged_under_its_new_name(stage):
    pull = ready(stage)
    stage.sim.verbs.rename(REPO, "globex/store")
    stage.deliver()
    assert stage.outcomes == [("merged", "landed")]
    stage.look()
    assert (stage.pull.state, pull.state) == ("merged", "MERGED")

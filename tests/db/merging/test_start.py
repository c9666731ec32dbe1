from convergence.models import ConvergenceFlow, PullRequest
from merging.models import MergeFlow, OwnHead
from merging.services.start import merges_missing_start
from runs.flows.registry import driving


def test_the_gates_head_is_the_first_own_head_and_limits_are_copied(stage):
    stage.config(max_merge_retries=2, max_merge_stall_rounds=4)
    stage.policy("reviewers: []\nmerging: {maxReturns: 1}\nrepositories: {acme/shop: {merging: {maxReturns: 7}}}\n")
    pull = stage.pull_on_forge(draft=True)
    stage.converged(pull)

    assert [(own.sha, own.source) for own in OwnHead.objects.all()] == [(pull.head_sha, "converged")]
    flow = stage.flow
    assert (flow.merge_retry_max, flow.stall_max, flow.return_max) == (2, 4, 7)
    assert (flow.repository_id, flow.base_ref) == (stage.repository().id, "main")
    found = driving(stage.pull.subject)
    assert found is not None
    assert found[0].name == "merge"


def test_without_a_gate_head_the_first_head_that_is_read_is_own(stage):
    pull = stage.pull_on_forge(draft=True)
    stage.converged(pull)
    OwnHead.objects.all().delete()
    stage.look()

    assert [(own.sha, own.source) for own in OwnHead.objects.all()] == [(pull.head_sha, "first_read")]
    assert stage.flow.state == "escalated"


def _lose_the_flow(stage):
    stage.converged(stage.pull_on_forge(draft=True))
    MergeFlow.rows().all().delete()
    PullRequest.objects.update(state="converged")
    ConvergenceFlow.rows().get()


def test_a_missing_flow_is_begun_once_by_the_sweep(stage):
    _lose_the_flow(stage)

    assert [merges_missing_start(), merges_missing_start()] == [1, 0]
    assert MergeFlow.rows().count() == 1
    assert stage.pull.state == "waiting_deps"


def test_the_sweep_begins_nothing_that_was_not_to_be_merged(stage):
    stage.config(auto_merge=False)
    stage.converged()
    stage.config(auto_merge=True)

    assert merges_missing_start() == 0
    assert stage.pull.state == "converged"

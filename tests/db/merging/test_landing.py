from merging.models import MergeFlow


def test_a_converged_green_pull_request_is_merged_and_proven(stage):
    """MG-S1: one attempt, one call, the landed commit on the base, one announcement."""
    pull = stage.converged()
    stage.settle()

    assert stage.edges == ["started", "dependencies_clear", "merge_begun", "merge_landed", "landing_proven"]
    assert stage.outcomes == [("merged", "landed")]
    assert stage.calls() == 1
    assert pull.state == "MERGED"
    assert stage.on_base("feat-total.py") == "total = 1\n"
    assert stage.flow.landed_sha == pull.merge_commit_sha
    assert stage.pull.state == "merged"
    assert [event.key for event in stage.events] == [f"flow:merge:{stage.flow.subject}:g1:factory.pull-request.merged"]
    assert MergeFlow.rows().filter(due_at__isnull=False).count() == 0

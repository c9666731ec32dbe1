import pytest

from merging.models import MergeFlow
from merging.selectors import merge_detail


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
    payload = stage.events[0].payload
    assert payload["payload"]["landedSha"] == pull.merge_commit_sha
    assert payload["payload"]["actor"] == "factory"
    assert MergeFlow.rows().filter(due_at__isnull=False).count() == 0


def test_the_detail_of_a_merged_pull_request_says_how_it_landed(stage):
    pull = stage.converged()
    stage.settle()

    detail = merge_detail(stage.pull)

    assert detail["mergeability"]["verdict"] == "ready"
    assert detail["mergeability"]["headSha"] == pull.head_sha
    assert [row["outcome"] for row in detail["mergeAttempts"]] == ["merged"]
    assert detail["mergeAttempts"][0]["method"] == "squash"
    assert detail["counters"]["mergeRetry"] == {"now": 0, "max": 5}
    assert (detail["landedSha"], detail["baseRef"]) == (pull.merge_commit_sha, "main")


def test_a_squash_carries_title_body_and_authors(stage):
    pull = stage.pull_on_forge(title="Sum the list", body="Why.<!-- template -->", by="dev")
    stage.converged(pull)
    stage.settle()

    message = stage.message_of(pull.merge_commit_sha).rstrip()

    lines = message.splitlines()
    assert lines[:3] == [f"Sum the list (#{pull.number})", "", "Why."]
    assert "template" not in message
    assert lines[-1].startswith("Co-authored-by: ")


def test_the_policy_says_what_a_squash_reads(stage):
    stage.policy("reviewers: []\nmerging:\n  squash: {title: 'Land {title} as {number}', body: empty}\n")
    pull = stage.pull_on_forge(title="Sum", body="Closes #77")
    stage.converged(pull)
    stage.settle()

    message = stage.message_of(pull.merge_commit_sha)

    assert message.startswith(f"Land Sum as {pull.number}\n")
    assert "Closes" not in message


def test_a_method_that_the_repository_forbids_gives_way_to_the_first_allowed(stage):
    stage.repository().methods.remove("squash")
    pull = stage.converged()
    stage.settle()

    assert pull.state == "MERGED"
    assert (stage.attempts[0].method, bool(stage.attempts[0].method_reason)) == ("merge", True)


def test_a_landing_is_not_reported_before_the_base_contains_it(stage):
    """MG-H4: merged on the forge is not merged here, until the landed commit is read on the base."""
    pull = stage.converged()
    stage.sim.faults.fail_next("compare", 500)
    stage.settle(passes=2)
    assert pull.state == "MERGED"
    assert stage.flow.state == "verifying_landing"
    assert (stage.flow.landed_sha, stage.events) == ("", [])

    stage.look()
    assert stage.flow.state == "merged"
    assert stage.flow.landed_sha == pull.merge_commit_sha
    assert len(stage.events) == 1


def test_a_landing_that_never_shows_is_asked_about_and_found_later(stage):
    pull = stage.converged()
    stage.sim.faults.fail_next("compare", 500)
    stage.settle(passes=2)
    repo = stage.repository()
    landed = repo.branches["main"]
    before = stage.sim.git.facts(repo.id, landed).parents[0]
    _base_is(stage, before)

    stage.passes(minutes=16)
    stage.look()
    assert stage.flow.state == "escalated"
    assert "does not contain that commit" in stage.task.question
    assert stage.pull.state == "escalated"

    _base_is(stage, landed)
    stage.look()
    assert stage.flow.state == "merged"
    assert stage.flow.landed_sha == pull.merge_commit_sha
    assert stage.task is None


def _base_is(stage, sha):
    repo = stage.repository()
    stage.sim.git.set_ref(repo.id, "refs/heads/main", sha)
    repo.branches["main"] = sha


@pytest.mark.parametrize("off", ["setting", "submit"])
def test_without_the_wish_to_merge_it_ends_converged(stage, off):
    stage.config(auto_merge=off != "setting")
    stage.converged(auto_merge=off != "submit")

    assert stage.pull.state == "converged"
    assert stage.flow is None


def test_a_branch_that_the_forge_deletes_with_the_merge_does_not_hide_the_landing(stage):
    stage.repository(delete_branch_on_merge=True)
    pull = stage.converged()
    stage.settle()

    assert "feat/total" not in stage.repository().branches
    assert (stage.pull.state, stage.flow.landed_sha) == ("merged", pull.merge_commit_sha)
    assert stage.pull.missing_count == 0

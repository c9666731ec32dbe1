"""Mergeability and merging, decided by real git and the rules of the branch."""

from typing import Any

import pytest

from fixtures.simulator import ManualClock, Simulator
from tests.unit.simulator.conftest import Client, settled

PULL = "/repos/acme/shop/pulls/1"
MERGE = f"{PULL}/merge"


def merge(client: Client, pull: Any, **more: Any) -> Any:
    return client.rest("PUT", MERGE, {"sha": pull.head_sha, "merge_method": "squash", **more})


def test_mergeability_is_unknown_for_the_first_read_after_a_change(
    sim: Simulator, client: Client, shop: Any, pull: Any
) -> None:
    del pull
    assert [client.rest("GET", PULL).json()["mergeable_state"] for _ in range(2)] == ["unknown", "clean"]
    sim.verbs.push(shop, "main", {"other.txt": "x\n"})
    assert [client.rest("GET", PULL).json()["mergeable"] for _ in range(2)] == [None, True]


def _conflict(sim: Simulator, pull: Any) -> None:
    sim.verbs.push(pull.repo, "main", {"app.py": "def total(xs):\n    return 7\n"})


def _behind(sim: Simulator, pull: Any) -> None:
    sim.verbs.protect(pull.repo, strict=True)
    sim.verbs.push(pull.repo, "main", {"other.txt": "x\n"})


def _review_wanted(sim: Simulator, pull: Any) -> None:
    sim.verbs.protect(pull.repo, approvals=1)


def _changes_requested(sim: Simulator, pull: Any) -> None:
    sim.verbs.protect(pull.repo, approvals=1)
    sim.verbs.review(pull, "ann", "CHANGES_REQUESTED", "No.")


def _check(conclusion: str | None) -> Any:
    def change(sim: Simulator, pull: Any) -> None:
        sim.verbs.protect(pull.repo, required_checks=["test"])
        sim.verbs.add_check(pull, "test", conclusion)

    return change


def _check_missing(sim: Simulator, pull: Any) -> None:
    sim.verbs.protect(pull.repo, required_checks=["test"])


def _draft(sim: Simulator, pull: Any) -> None:
    sim.verbs.edit(pull, draft=True)


def _squash_forbidden(sim: Simulator, pull: Any) -> None:
    del sim
    pull.repo.methods.discard("squash")


REFUSED = [
    (_conflict, "dirty", "Pull Request is not mergeable"),
    (_behind, "behind", "up to date"),
    (_draft, "draft", "Pull Request is still a draft"),
    (_check("FAILURE"), "blocked", 'Required status check "test" is failing.'),
    (_check(None), "blocked", 'Required status check "test" is pending.'),
    (_check_missing, "blocked", 'Required status check "test" is expected.'),
    (_review_wanted, "blocked", "At least 1 approving review is required"),
    (_changes_requested, "blocked", "Changes have been requested"),
    (_squash_forbidden, "clean", "Squash merges are not allowed on this repository."),
]


@pytest.mark.parametrize(("change", "word", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_merge_is_refused_405_with_githubs_own_words(
    sim: Simulator, client: Client, pull: Any, *, change: Any, word: str, message: str
) -> None:
    change(sim, pull)
    base = pull.repo.branches["main"]
    assert settled(client, PULL)["mergeable_state"] == word
    refused = merge(client, pull)
    assert refused.status_code == 405
    assert message in refused.json()["message"]
    assert (pull.state, pull.repo.branches["main"]) == ("OPEN", base)


def test_a_failing_check_that_is_not_required_is_unstable_and_merges(sim: Simulator, client: Client, pull: Any) -> None:
    sim.verbs.add_check(pull, "lint", "FAILURE")
    assert settled(client, PULL)["mergeable_state"] == "unstable"
    assert merge(client, pull).status_code == 200


def test_another_head_than_expected_is_409(sim: Simulator, client: Client, pull: Any) -> None:
    judged = pull.head_sha
    sim.verbs.push(pull.repo, "feat/total", {"app.py": "def total(xs):\n    return 3\n"})
    refused = merge(client, pull, sha=judged)
    assert refused.status_code == 409
    assert refused.json()["message"] == "Head branch was modified. Review and try the merge again."
    assert pull.state == "OPEN"


@pytest.mark.parametrize(("method", "parents"), [("squash", 1), ("merge", 2), ("rebase", 1)])
def test_the_landed_commit_holds_the_change_and_is_reachable_from_the_base(
    sim: Simulator, client: Client, pull: Any, *, method: str, parents: int
) -> None:
    texts = {"commit_title": "Sum (#1)", "commit_message": "Because."} if method == "squash" else {}
    sim.verbs.push(pull.repo, "main", {"other.txt": "x\n"})
    landed = merge(client, pull, merge_method=method, **texts).json()["sha"]
    facts = sim.git.facts(pull.repo.id, landed)
    assert len(facts.parents) == parents
    assert method != "squash" or facts.message == "Sum (#1)\n\nBecause."
    assert sim.git.show(pull.repo.id, "main", "app.py") == b"def total(xs):\n    return 1\n"
    assert sim.git.show(pull.repo.id, "main", "other.txt") == b"x\n"
    assert client.rest("GET", f"/repos/acme/shop/compare/{landed}...main").json()["status"] == "identical"
    shown = client.rest("GET", PULL).json()
    assert (shown["merged"], shown["state"], shown["merge_commit_sha"]) == (True, "closed", landed)
    assert [f["filename"] for f in client.rest("GET", f"{PULL}/files").json()] == ["app.py"]
    assert merge(client, pull).status_code == 405


def test_closing_keywords_close_issues_when_the_default_branch_moves(sim: Simulator, client: Client, shop: Any) -> None:
    first, second, third = (sim.verbs.add_issue(shop, f"Issue {n}") for n in range(3))
    pull = sim.verbs.add_pull(shop, "feat/x", body=f"Fixes #{first.number}", message=f"x\n\nCloses #{second.number}")
    answer = client.rest(
        "PUT", f"/repos/acme/shop/pulls/{pull.number}/merge", {"sha": pull.head_sha, "merge_method": "merge"}
    )
    assert answer.status_code == 200
    assert [first.state, second.state, third.state] == ["CLOSED", "CLOSED", "OPEN"]


def test_update_branch_merges_the_base_and_keeps_approvals(sim: Simulator, client: Client, pull: Any) -> None:
    review = sim.verbs.review(pull, "ann", "APPROVED")
    old = pull.head_sha
    path = f"{PULL}/update-branch"
    unneeded = client.rest("PUT", path, {"expected_head_sha": old})
    assert (unneeded.status_code, unneeded.json()["message"]) == (422, "There are no new commits on the base branch.")
    sim.verbs.push(pull.repo, "main", {"other.txt": "x\n"})
    other = client.rest("PUT", path, {"expected_head_sha": "0" * 40})
    assert (other.status_code, "expected head sha" in other.json()["message"]) == (422, True)
    assert client.rest("PUT", path, {"expected_head_sha": old}).status_code == 202
    assert pull.head_sha != old
    assert sim.git.contains(pull.repo.id, pull.repo.branches["main"], pull.head_sha)
    assert review.commit_sha == pull.head_sha


def test_update_branch_refuses_a_conflict(sim: Simulator, client: Client, pull: Any) -> None:
    _conflict(sim, pull)
    refused = client.rest("PUT", f"{PULL}/update-branch", {"expected_head_sha": pull.head_sha})
    assert (refused.status_code, refused.json()["message"]) == (422, "merge conflict between base and head")


def test_a_force_push_repoints_approvals_and_nothing_else(sim: Simulator, pull: Any) -> None:
    old = pull.head_sha
    approval = sim.verbs.review(pull, "ann", "APPROVED")
    remark = sim.verbs.review(pull, "bob", "COMMENTED", "Hm.")
    sim.verbs.push(pull.repo, "feat/total", {"more.txt": "x\n"})
    assert approval.commit_sha == old
    forced = sim.verbs.push(pull.repo, "feat/total", {"app.py": "y\n"}, onto=pull.repo.branches["main"])
    assert (approval.commit_sha, remark.commit_sha) == (forced, old)


def test_what_reaches_the_base_by_hand_is_seen_as_merged(sim: Simulator, client: Client, pull: Any) -> None:
    sim.verbs.merge_by_hand(pull, by="ann")
    shown = client.rest("GET", PULL).json()
    assert (shown["merged"], shown["merged_by"]["login"]) == (True, "ann")


def test_a_merged_branch_is_deleted_where_the_repository_says_so(sim: Simulator, client: Client) -> None:
    repo = sim.verbs.add_repository("acme/shop", delete_branch_on_merge=True)
    pull = sim.verbs.add_pull(repo, "feat/x")
    assert merge(client, pull).status_code == 200
    assert client.rest("GET", "/repos/acme/shop/git/ref/heads/feat/x").status_code == 404
    assert pull.state == "MERGED"


def test_ci_judges_the_real_tree_of_each_head(sim: Simulator, client: Client, clock: ManualClock) -> None:
    checks = [{"name": "test", "fails_if": {"path": "app.py", "contains": "BUG"}, "after": 2, "required": True}]
    repo = sim.verbs.add_repository("acme/shop", {"app.py": "x\n"}, checks=checks)
    sim.verbs.add_pull(repo, "feat/x", files={"app.py": "BUG\n"})
    seen = [settled(client, PULL)["mergeable_state"]]
    for text in ("BUG again\n", "fine\n"):
        clock.advance(2)
        seen.append(client.rest("GET", PULL).json()["mergeable_state"])
        sim.verbs.push(repo, "feat/x", {"app.py": text})
        client.rest("GET", PULL)
    runs = client.rest("GET", "/repos/acme/shop/commits/feat/x/check-runs").json()
    assert (runs["total_count"], runs["check_runs"][0]["status"]) == (1, "in_progress")
    clock.advance(2)
    seen.append(client.rest("GET", PULL).json()["mergeable_state"])
    assert seen == ["blocked", "blocked", "blocked", "clean"]
    runs = client.rest("GET", "/repos/acme/shop/commits/feat/x/check-runs").json()
    assert runs["check_runs"][0]["conclusion"] == "success"


def test_ci_cancels_what_is_superseded_runs_two_suites_and_comes_late(sim: Simulator, clock: ManualClock) -> None:
    checks = [
        {"name": "slow", "after": 60, "cancel_superseded": True},
        {"name": "twice", "two_suites": True},
        {"name": "late", "late": 10},
        {"name": "many", "count": 130},
    ]
    repo = sim.verbs.add_repository("acme/shop", checks=checks)
    pull = sim.verbs.add_pull(repo, "feat/x")
    first = pull.head_sha
    clock.advance(1)
    names = [run.name for run in repo.check_runs[first]]
    assert (names.count("twice"), "late" in names, len(names)) == (2, False, 133)
    assert len({run.suite.id for run in repo.check_runs[first] if run.name == "twice"}) == 2
    sim.verbs.push(repo, "feat/x", {"x.txt": "y\n"})
    assert [r.conclusion for r in repo.check_runs[first] if r.name == "slow"] == ["CANCELLED"]
    clock.advance(10)
    assert "late" in [run.name for run in repo.check_runs[pull.head_sha]]

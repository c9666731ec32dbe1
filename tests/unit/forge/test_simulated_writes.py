"""Writes against the simulated GitHub: once, with what they expect, and believed only when they are read back."""

import pytest

from convergence.forge.facts import Profile
from convergence.forge.reading import read_pull
from convergence.forge.writes.contract import key_hash
from runs.contract.errors import Invalid, Transient


def outcomes(seen):
    return [item.outcome for item in seen]


def pauses(seen):
    return [item.again_after for item in seen]


# --- reviews ---


def test_a_request_that_github_takes_is_seen_pending(world):
    seen = world.perform("request_review", world.request_arguments())
    assert (seen.outcome, seen.detail["way"]) == ("requested", "rest")
    assert [user.login for user in world.pull.requested] == ["copilot-pull-request-reviewer"]


def test_a_reviewer_that_is_shown_as_copilot_is_not_asked_again(world):
    """GH-S16: pending under its other spelling; no second request leaves."""
    world.verbs.request_review(world.pull, "copilot-pull-request-reviewer")
    assert world.perform("request_review", world.request_arguments()).outcome == "already_pending"
    assert world.log.count("request_review") == 0


def test_a_request_without_effect_tries_the_second_way_once_and_is_then_ignored(world):
    """GH-S15, GH-H14: 201 proves nothing; what nobody sees twice goes the other way, and then counts for nothing."""
    world.faults.ignore_request(times=2)
    seen = world.finish("request_review", world.request_arguments())
    assert outcomes(seen) == ["unseen", "unseen", "unseen", "ignored"]
    assert pauses(seen) == [5.0, 0.0, 5.0, None]
    assert world.log.count("request_review") == 1
    assert world.log.count("request_review_by_login") == 1


def test_the_second_way_may_be_the_one_that_works(world):
    world.faults.ignore_request(times=1)
    seen = world.finish("request_review", world.request_arguments())
    assert (seen[-1].outcome, seen[-1].detail["way"]) == ("requested", "by_login")


def test_a_host_without_the_second_way_is_not_asked_for_it(world):
    world.faults.drop_schema("Mutation.requestReviewsByLogin")
    world.faults.ignore_request(times=1)
    assert world.finish("request_review", world.request_arguments())[-1].outcome == "ignored"
    assert world.log.count("request_review_by_login") == 0


def test_a_reviewer_that_cannot_be_requested_is_unavailable(world):
    """GH-S15: 422 says so; nothing else is tried."""
    world.verbs.script_review(world.pull, unassignable=True)
    seen = world.perform("request_review", world.request_arguments())
    assert seen.outcome == "unavailable"
    assert seen.detail["message"]
    assert world.log.count("request_review") == 1
    assert world.log.count("request_review_by_login") == 0


def reviewed_before(world):
    """An earlier request that ended with its review."""
    world.verbs.request_review(world.pull, "copilot-pull-request-reviewer")
    world.verbs.review(world.pull, "copilot-pull-request-reviewer")


def test_a_request_that_ended_with_its_review_meanwhile_is_seen_in_the_timeline(world):
    """GH-H14: not pending any more, but the timeline has a newer request than before the call."""
    reviewed_before(world)
    arguments = world.request_arguments()
    world.verbs.script_review(world.pull, clean=True)
    world.faults.lose_answer("request_review")
    lost = world.perform("request_review", arguments)
    world.sim.clock.advance(1)
    assert world.pull.requested == []
    seen = world.perform("request_review", arguments, earlier_try=True, memory=lost.memory)
    assert (seen.outcome, seen.detail["shown"]) == ("requested", "timeline")
    assert world.log.count("request_review") == 1


def test_an_older_request_in_the_timeline_proves_nothing(world):
    reviewed_before(world)
    world.faults.ignore_request(times=2)
    assert world.finish("request_review", world.request_arguments())[-1].outcome == "ignored"


# --- threads and comments ---


def reply(world):
    return "reply", {"thread_id": world.thread().node_id, "body": "Named it."}


def file_comment(world):
    arguments = {
        "pull": world.target,
        "commit_sha": world.pull.head_sha,
        "paths": ["absent.py", "app.py"],
        "body": "factory-ack: app.py :: Name it.",
    }
    return "file_comment", arguments


def comment(world):
    return "comment", {"pull": world.target, "body": "A word."}


def resolve(world):
    return "resolve_thread", {"thread_id": world.thread().node_id}


def merge(world, **changed):
    arguments = {"pull": world.target, "head_sha": world.pull.head_sha, "method": "squash", "title": "Sum", "body": ""}
    return "merge", {**arguments, **changed}


def effects(world, operation):
    """How often the write's effect is there; reading it counts as the test's own look."""
    mark = key_hash("k")
    texts = [item.body for item in world.pull.comments] + [c.body for t in world.pull.threads for c in t.comments]
    if operation == "reply":
        world.verbs.expect_reply(world.pull.threads[0], mark)
    elif operation == "file_comment":
        world.verbs.expect_thread(world.pull, mark)
    elif operation == "comment":
        world.verbs.expect_comment(world.pull, mark)
    elif operation == "resolve_thread":
        return int(world.pull.threads[0].is_resolved)
    elif operation == "merge":
        return int(world.pull.state == "MERGED")
    return sum(mark in text for text in texts)


WRITES = {"reply": reply, "file_comment": file_comment, "comment": comment, "resolve_thread": resolve, "merge": merge}
FAULT_NAMES = {"resolve_thread": "resolve"}


@pytest.mark.parametrize("kind", WRITES)
def test_a_write_is_done_when_it_is_seen(world, kind):
    operation, arguments = WRITES[kind](world)
    assert world.perform(operation, arguments).outcome == ("merged" if kind == "merge" else "done")
    assert effects(world, operation) == 1


@pytest.mark.parametrize("kind", WRITES)
def test_a_lost_answer_is_read_back_and_the_effect_exists_once(world, kind):
    """GH-S17, GH-H9: the effect happened, the answer did not come; the next call finds it and sends nothing."""
    operation, arguments = WRITES[kind](world)
    name = FAULT_NAMES.get(operation, operation)
    world.faults.lose_answer(name)
    seen = world.finish(operation, arguments)
    assert outcomes(seen) == ["lost_answer", "merged" if kind == "merge" else "done"]
    assert pauses(seen) == [5.0, None]
    accepted = [entry for entry in world.log.entries if entry.operation == name and entry.status < 400]
    assert len(accepted) == 1
    assert effects(world, operation) == 1


@pytest.mark.parametrize("kind", WRITES)
def test_a_call_repeated_after_a_crash_finds_its_effect(world, kind):
    """GH-H9: the record was lost with the process; a fresh one looks first and sends nothing."""
    operation, arguments = WRITES[kind](world)
    world.perform(operation, arguments)
    world.log.clear()
    world.client = world.new_client()
    again = world.perform(operation, arguments, earlier_try=True)
    assert again.final
    assert again.outcome in ("done", "merged")
    assert world.log.count(FAULT_NAMES.get(operation, operation)) == 0
    assert effects(world, operation) == 1


@pytest.mark.parametrize("kind", ["reply", "file_comment", "comment", "resolve_thread"])
def test_a_write_that_never_arrived_is_sent_again_after_the_read_back(world, kind):
    operation, arguments = WRITES[kind](world)
    name = FAULT_NAMES.get(operation, operation)
    world.faults.cut_next(name)
    seen = world.finish(operation, arguments)
    assert outcomes(seen) == ["lost_answer", "done"]
    assert effects(world, operation) == 1


def test_a_thread_that_is_gone_drops_the_write(world):
    for operation, arguments in (
        ("reply", {"thread_id": "PRRT_absent", "body": "x"}),
        ("resolve_thread", {"thread_id": "PRRT_absent"}),
    ):
        assert world.perform(operation, arguments).outcome == "gone"


def test_a_thread_that_somebody_resolved_is_left_alone(world):
    thread = world.thread()
    world.verbs.resolve(thread)
    assert world.perform("resolve_thread", {"thread_id": thread.node_id}).outcome == "already_done"
    assert world.log.count("resolve") == 0


def test_no_path_of_a_file_comment_in_the_diff_is_an_outcome_of_its_own(world):
    arguments = {"pull": world.target, "commit_sha": world.pull.head_sha, "paths": ["absent.py"], "body": "x"}
    assert world.perform("file_comment", arguments).outcome == "path_not_in_diff"


def test_a_write_while_the_credential_is_blocked_is_not_sent_and_not_counted_as_a_try(world):
    operation, arguments = comment(world)
    fault = world.faults.secondary_limit(60)
    with pytest.raises(Transient) as raised:
        world.perform(operation, arguments)
    assert raised.value.code == "forge_limited"
    with pytest.raises(Transient):
        world.perform(operation, arguments)
    assert fault.struck == 1


# --- merging ---


def test_a_merge_lands_what_was_judged(world):
    seen = world.perform(*merge(world))
    assert (seen.outcome, seen.detail["reason"]) == ("merged", "landed")
    assert seen.detail["merge_commit_sha"] == world.pull.merge_commit_sha


def test_a_push_between_look_and_call_is_refused_by_github(world):
    """GH-H8: the call carries the head of the decision, so GitHub itself refuses the new one."""
    operation, arguments = merge(world)
    world.faults.race("merge", then=lambda: world.verbs.push("acme/shop", "feat/total", {"app.py": "x = 3\n"}))
    seen = world.perform(operation, arguments)
    assert (seen.outcome, seen.detail["reason"]) == ("retry", "head_modified")
    assert world.log.count("merge") == 1
    assert world.pull.state == "OPEN"


@pytest.mark.parametrize("field", ["head_sha", "method", "pull"])
def test_a_merge_without_what_it_expects_is_never_sent(world, field):
    """GH-H8: no head, no call."""
    operation, arguments = merge(world)
    del arguments[field]
    with pytest.raises(Invalid):
        world.perform(operation, arguments)
    assert world.log.count() == 0


def test_another_head_is_seen_before_the_call(world):
    operation, arguments = merge(world, head_sha="0" * 40)
    seen = world.perform(operation, arguments)
    assert (seen.outcome, seen.detail["reason"]) == ("retry", "head_modified")
    assert world.log.count("merge") == 0


def test_what_ended_before_the_call_is_not_merged(world):
    operation, arguments = merge(world)
    world.verbs.close(world.pull)
    seen = world.perform(operation, arguments)
    assert (seen.outcome, seen.detail["reason"]) == ("abandoned", "closed")
    world.verbs.reopen(world.pull)
    world.verbs.merge_by_hand(world.pull)
    seen = world.perform(operation, arguments)
    assert (seen.outcome, seen.detail["reason"]) == ("merged", "already_merged")
    assert world.log.count("merge") == 0


def test_a_draft_is_not_ready(world):
    operation, arguments = merge(world)
    world.verbs.edit(world.pull, draft=True)
    seen = world.perform(operation, arguments)
    assert (seen.outcome, seen.detail["reason"]) == ("retry", "not_ready")
    assert world.log.count("merge") == 0


@pytest.mark.parametrize(
    ("status", "message", "outcome", "reason"),
    [
        (405, "Base branch was modified. Review and try the merge again.", "retry", "base_modified"),
        (409, "Head branch was modified. Review and try the merge again.", "retry", "head_modified"),
        (405, "Head branch is not up to date with the base branch", "retry", "behind"),
        (405, "Pull Request is not mergeable", "retry", "not_ready"),
        (422, "Squash merges are not allowed", "retry", "not_ready"),
        (403, "Resource not accessible", "blocked", "forbidden"),
        (404, "Not Found", "blocked", "forbidden"),
    ],
)
def test_what_github_says_to_a_merge_becomes_a_reason(world, status, message, outcome, reason):
    operation, arguments = merge(world)
    world.faults.fail_next("merge", status, message=message)
    seen = world.perform(operation, arguments)
    assert (seen.outcome, seen.detail["reason"]) == (outcome, reason)
    assert message in seen.detail["message"]


def test_a_merge_that_was_lost_before_its_effect_is_looked_for_and_given_back_to_the_flow(world):
    operation, arguments = merge(world)
    world.faults.cut_next("merge")
    seen = world.finish(operation, arguments)
    assert outcomes(seen) == ["lost_answer", "unseen", "unseen", "unseen", "retry"]
    assert pauses(seen) == [5.0, 5.0, 15.0, 30.0, None]
    assert seen[-1].detail["reason"] == "transient"
    assert world.log.count("merge") == 1


def test_an_unknown_write_is_refused_by_name(world):
    with pytest.raises(Invalid, match="remove_reviewer"):
        world.perform("remove_reviewer", {})


def test_a_renamed_repository_is_written_to_under_its_old_name(world):
    operation, arguments = merge(world)
    world.verbs.rename("acme/shop", "beta/store")
    assert read_pull(world.client, Profile.ALIVE, world.ref).repository.name_with_owner == "beta/store"
    assert world.perform(operation, arguments).outcome == "merged"

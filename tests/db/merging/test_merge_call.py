import pytest
from django.db import DatabaseError

from merging.models import MergeAttempt, MergeFlow
from runs.models import Outbox
from runs.outbox.dispatch import outbox_pass

BASE_MODIFIED = "Base branch was modified. Review and try the merge again."


def ready(stage):
    """A pull request whose merge has begun and whose call is not made yet."""
    pull = stage.converged()
    for _ in range(4):
        stage.look()
        if stage.flow.state == "merging":
            return pull
    raise AssertionError(stage.edges)


def test_a_push_between_decision_and_call_goes_back_to_review(stage):
    """MG-S17: the forge refuses the other head; it is reviewed again and merged in generation 2."""
    pull = ready(stage)
    stage.sim.faults.race("merge", then=stage.push)
    stage.deliver()
    assert stage.outcomes == [("retry", "head_modified")]
    assert stage.flow.merge_retries == 0

    stage.look()
    assert stage.flow.state == "returned"
    assert (stage.pull.generation, stage.pull.state) == (2, "converging")

    stage.reviewed()
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.on_base("feat-total.py") == "total = 2\n"
    assert stage.flow.generation == 2
    assert pull.state == "MERGED"


def test_a_head_that_nobody_reviewed_never_reaches_a_call(stage):
    """MG-H1 and MG-H2: a foreign push before the effect ends the try before its call."""
    ready(stage)
    stage.push()
    stage.deliver()

    assert stage.calls() == 0
    assert stage.outcomes == [("retry", "head_modified")]
    stage.look()
    assert stage.flow.state == "returned"


def test_a_base_that_moves_five_times_is_merged_at_last(stage):
    """MG-S18: five refusals rest 5, 10, 20, 40 and 60 s, then it lands."""
    ready(stage)
    stage.sim.faults.fail_next("merge", 405, times=5, message=BASE_MODIFIED)
    rests = []
    for _ in range(5):
        stage.deliver()
        assert stage.flow.state == "waiting_merge"
        rests.append(round((stage.flow.retry_at - stage.flow.entered_at).total_seconds()))
        stage.look()
        assert stage.flow.state == "waiting_merge"  # a look before its time begins nothing
        stage.passes(seconds=61)
        stage.look()
        assert stage.flow.state == "merging"
    stage.settle()

    assert rests == [5, 10, 20, 40, 60]
    assert stage.pull.state == "merged"
    assert stage.outcomes == [("retry", "base_modified")] * 5 + [("merged", "landed")]


def test_a_base_that_moves_six_times_is_a_question_and_retry_gives_five_more(stage):
    """MG-S18: the sixth refusal asks a person; MG-H7: the counter stays within its limit and one."""
    ready(stage)
    stage.sim.faults.fail_next("merge", 405, times=6, message=BASE_MODIFIED)
    for _ in range(6):
        stage.deliver()
        stage.passes(seconds=61)
        stage.look()
    assert stage.flow.state == "escalated"
    assert stage.flow.merge_retries == 6
    assert "Base branch was modified" in stage.task.question

    stage.answer(answer="Try again.")
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.flow.merge_retries == 0


def test_an_answer_that_is_lost_after_the_merge_makes_no_second_call(stage):
    """MG-S21: the call's effect is found by reading back."""
    pull = ready(stage)
    stage.sim.faults.lose_answer("merge")
    stage.deliver()
    assert stage.flow.state == "merging"
    assert MergeAttempt.objects.get().outcome == ""

    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.outcomes == [("merged", "landed")]
    assert stage.calls() == 1
    assert stage.flow.landed_sha == pull.merge_commit_sha


def test_a_crash_after_the_call_is_found_merged_without_a_second_call(stage):
    """MG-S21: whatever breaks between the call and its record, one call is on the wire in total."""
    ready(stage)
    broken = _fails_at_the_record(stage)
    stage.deliver()
    assert broken()
    attempt = MergeAttempt.objects.get()
    assert (attempt.outcome, attempt.sent_at is None) == ("", False)
    assert stage.flow.state == "merging"

    stage.deliver()
    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.outcomes == [("merged", "landed")]
    assert stage.calls() == 1


def _fails_at_the_record(stage):
    """Have the database refuse to write the outcome once, after the forge merged."""
    from django.db import connection

    struck: list[str] = []

    def refuse(execute, sql, params, many, context):
        if not struck and stage.calls() and sql.startswith("UPDATE") and "merging_mergeattempt" in sql:
            struck.append(sql)
            raise DatabaseError("the disk is full")
        return execute(sql, params, many, context)

    guard = connection.execute_wrapper(refuse)
    guard.__enter__()

    def done():
        guard.__exit__(None, None, None)
        return bool(struck)

    return done


def test_a_merge_in_hand_is_taken_over_by_a_look_when_its_effect_died(stage):
    """MG-H11: after two minutes the outcome is read back, and an unmade call is a counted retry."""
    ready(stage)
    Outbox.objects.filter(topic="flow.effect", done_at__isnull=True).delete()
    stage.look()
    assert stage.flow.state == "merging"

    stage.passes(minutes=2, seconds=1)
    stage.look()
    assert stage.flow.state == "waiting_merge"
    assert stage.outcomes == [("retry", "transient")]
    assert stage.flow.merge_retries == 1


def test_an_effect_of_another_entry_does_nothing(stage):
    """MG-H6: the effect of a try that was left sends nothing, however often it is delivered."""
    ready(stage)
    stale = Outbox.objects.filter(topic="flow.effect").latest("id")
    stage.passes(minutes=3)
    Outbox.objects.filter(pk=stale.pk).update(dead_at=stage.flow.entered_at)
    stage.look()
    assert stage.flow.state == "waiting_merge"

    Outbox.objects.filter(pk=stale.pk).update(dead_at=None)
    stage.deliver()
    stale.refresh_from_db()
    assert stale.observed == {"dropped": "moved_on"}
    assert stage.calls() == 0


def test_a_server_error_is_a_counted_retry(stage):
    ready(stage)
    stage.sim.faults.fail_next("merge", 502)
    for _ in range(6):
        stage.deliver()
    assert stage.outcomes == [("retry", "transient")]
    assert stage.flow.merge_retries == 1
    stage.passes(seconds=10)
    stage.settle()
    assert stage.pull.state == "merged"


def test_a_refusal_although_ready_is_counted_when_the_verdict_is_ready_again(stage):
    ready(stage)
    stage.sim.faults.fail_next("merge", 405, message="Something is in the way")
    stage.deliver()
    assert stage.outcomes == [("retry", "not_ready")]
    assert stage.flow.merge_retries == 0

    stage.look()
    assert stage.outcomes == [("retry", "refused")]
    assert (stage.flow.state, stage.flow.merge_retries) == ("waiting_merge", 1)
    stage.passes(seconds=6)
    stage.settle()
    assert stage.pull.state == "merged"


def test_a_forge_that_refuses_a_ready_head_again_and_again_is_a_question_in_its_words(stage):
    stage.config(max_merge_retries=1)
    ready(stage)
    stage.sim.faults.fail_next("merge", 405, times=2, message="Repository rule violations found")
    for _ in range(2):
        stage.deliver()
        stage.look()
        stage.passes(seconds=61)
        stage.look()
    assert stage.flow.state == "escalated"
    assert "Repository rule violations found" in stage.task.question
    assert stage.edges[-1] == "refused_too_often"


@pytest.mark.parametrize(("status", "edge"), [(403, "merge_forbidden"), (404, "merge_forbidden")])
def test_a_token_that_may_not_merge_is_a_question(stage, status, edge):
    ready(stage)
    stage.sim.faults.fail_next("merge", status, message="Resource not accessible by personal access token")
    stage.deliver()

    assert stage.edges[-1] == edge
    assert stage.outcomes == [("blocked", "forbidden")]
    assert stage.pull.state == "escalated"
    stage.look()
    assert stage.flow.state == "escalated"


def test_a_branch_that_is_out_of_date_is_a_counted_retry(stage):
    ready(stage)
    stage.sim.faults.fail_next("merge", 405, message="Head branch is out of date")
    stage.deliver()
    assert stage.outcomes == [("retry", "behind")]
    assert stage.flow.merge_retries == 1


def test_a_pull_request_closed_before_the_call_is_abandoned(stage):
    pull = ready(stage)
    stage.sim.verbs.close(pull)
    stage.deliver()
    assert stage.outcomes == [("abandoned", "closed")]
    assert (stage.pull.state, stage.calls()) == ("abandoned", 0)


def test_looking_again_at_the_same_facts_changes_nothing(stage):
    """MG-H6: no edge, no effect, no attempt from a repeated look."""
    pull = stage.pull_on_forge(draft=True)
    stage.converged(pull)
    stage.settle()
    assert stage.flow.state == "escalated"
    edges, effects, version = stage.edges, Outbox.objects.count(), stage.flow.version
    for _ in range(3):
        stage.look()
        outbox_pass()
    assert (stage.edges, Outbox.objects.count(), stage.flow.version) == (edges, effects, version)
    assert MergeFlow.rows().count() == 1

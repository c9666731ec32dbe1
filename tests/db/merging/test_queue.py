"""The forge's merge queue: only an entry counts as queued, and each way out leads somewhere."""

import pytest

from merging.models import MergeFlow
from runs.models import HumanTask, Outbox
from tests.db.merging.stage import REPO


@pytest.fixture
def queued(stage):
    """A pull request in the merge queue of its base."""
    stage.repository()
    stage.sim.verbs.enable_queue(REPO)
    pull = stage.pull_on_forge(files={"README.md": "theirs\n"})
    stage.converged(pull)
    stage.settle()
    assert (stage.flow.state, stage.pull.state) == ("queued", "queued")
    return pull


def test_it_enters_at_the_head_of_the_decision_and_lands_through_the_queue(stage, queued):
    """MG-S19: queued means that an entry exists; the landing is proven like any other."""
    assert stage.outcomes == [("queued", "queued")]
    stage.look()
    assert stage.flow.queue_position == 1
    stage.sim.verbs.queue_land(queued)
    stage.settle()
    assert stage.flow.state == "merged"
    assert stage.outcomes == [("queued", "queued"), ("merged", "landed")]
    assert stage.attempts[1].actor == "factory"
    assert stage.sim.log.count("enqueue") == 1
    assert len(stage.events) == 1


def test_a_conflict_in_the_queue_is_rebased_and_enters_again(stage, queued):
    """MG-S19: dirty, evicted, rebased, enqueued, landed."""
    stage.sim.verbs.push(REPO, "main", {"README.md": "ours\n"}, "Ours")
    stage.sim.verbs.evict(queued, "merge conflict")
    stage.settle()
    assert (stage.flow.state, stage.flow.evictions) == ("rebasing", 1)
    assert stage.outcomes[-1] == ("evicted", "queue_conflict")

    base = stage.repository().branches["main"]
    stage.repaired("rebased", files={"README.md": "both\n"}, onto=base, agent="rebase")
    assert stage.flow.state == "queued"
    stage.sim.verbs.queue_land(queued)
    stage.settle()
    assert stage.flow.state == "merged"
    assert not HumanTask.objects.exists()


@pytest.mark.usefixtures("queued")
def test_a_dirty_pull_request_has_left_even_before_the_queue_says_so(stage):
    stage.sim.verbs.push(REPO, "main", {"README.md": "ours\n"}, "Ours")
    stage.look()
    stage.look()
    assert "evicted" in stage.edges
    assert stage.outcomes[-1] == ("evicted", "queue_conflict")


def test_one_that_a_person_takes_out_is_a_question_and_putting_it_back_withdraws_it(stage, queued):
    """MG-S19: somebody meant it."""
    stage.sim.verbs.evict(queued, "dequeued by a user", by="dev")
    stage.settle()
    assert stage.task.refs["reason"] == "dequeued"
    assert stage.outcomes[-1] == ("evicted", "queue_taken_out")
    assert stage.flow.evictions == 0

    with stage.sim.world.lock:
        from fixtures.simulator.rules.queue import queue_enter

        queue_enter(stage.sim.world, stage.sim.git, queued, stage.sim.world.users["dev"], expected=None)
    stage.settle()
    assert stage.flow.state == "queued"
    assert HumanTask.objects.get().state == "closed"


def test_checks_that_fail_in_the_queue_are_given_to_the_repair(stage, queued):
    """The head is green by itself; what failed is the queue's own commit."""
    tested = stage.sim.verbs.evict(queued, "failed checks", failed_check="integration")
    stage.settle()
    assert (stage.flow.state, stage.flow.queue_failed_sha) == ("fixing_ci", tested)
    attempt = stage.claimed("fix-ci")
    assert [check["name"] for check in stage.variables(attempt)["failingChecks"]] == ["integration"]
    stage.ends(attempt, "fixed")
    stage.settle()
    assert stage.flow.state == "queued"


def test_a_cleared_queue_is_entered_again_and_at_last_asked_about(stage, queued):
    MergeFlow.rows().update(eviction_max=1)
    stage.sim.verbs.evict(queued, "queue cleared")
    stage.settle()
    assert (stage.flow.state, stage.flow.evictions) == ("queued", 1)
    stage.sim.verbs.evict(queued, "queue cleared")
    stage.settle()
    assert stage.task.refs["reason"] == "evicted_too_often"
    assert stage.flow.evictions == 2


def test_an_accepted_entry_that_never_appears_is_a_counted_retry(stage):
    """MG-S20: never shown as queued."""
    stage.repository()
    stage.sim.verbs.enable_queue(REPO)
    stage.sim.faults.ignore_enqueue()
    stage.converged(stage.pull_on_forge())
    for _ in range(8):
        stage.look()
        stage.deliver()
        if stage.flow.merge_retries:
            break
    assert (stage.flow.state, stage.flow.merge_retries) == ("waiting_merge", 1)
    assert stage.outcomes == [("retry", "transient")]
    stage.passes(minutes=1)
    stage.settle()
    assert stage.flow.state == "queued"


def test_a_cancel_takes_the_entry_out_and_reads_that_back(stage, queued):
    """MG-S27: dequeued, read back, abandoned."""
    stage.cancel()
    assert stage.flow.state == "abandoned"
    stage.deliver()
    assert queued.queue is None
    assert Outbox.objects.get(payload__effect="dequeue").observed["outcome"] == "done"


def test_a_head_that_nobody_reviewed_is_taken_back_out_of_the_queue(stage, queued):
    """MG-H2: a queue that goes on with what was pushed meanwhile would land it unreviewed."""
    stage.sim.verbs.push(REPO, "feat/total", {"README.md": "pushed\n"}, "Pushed")
    stage.look()
    assert (stage.flow.state, stage.edges[-1]) == ("queued", "taken_back")
    stage.look()
    assert stage.edges.count("taken_back") == 1  # its effect is still to be delivered
    stage.deliver()
    assert queued.queue is None

    stage.settle()
    assert stage.edges[-2:] == ["evicted", "returned"]
    stage.reviewed()
    stage.settle()
    assert (stage.flow.generation, stage.flow.state) == (2, "queued")
    assert stage.attempts[-1].expected_head == queued.head_sha


def test_changes_that_are_requested_take_it_back_out_of_the_queue(stage, queued):
    stage.sim.world.clock.advance(120)
    stage.sim.verbs.review(queued, "maria", "CHANGES_REQUESTED", "Not like this.")
    stage.look()
    stage.deliver()
    assert queued.queue is None
    stage.settle()
    assert stage.edges[-1] == "returned"


@pytest.mark.usefixtures("queued")
def test_too_long_in_the_queue_asks(stage):
    stage.passes(hours=6, seconds=1)
    stage.look()
    assert stage.task.refs["reason"] == "queue_stalled"


def test_one_that_somebody_else_entered_is_watched(stage):
    stage.repository()
    stage.sim.verbs.enable_queue(REPO)
    pull = stage.pull_on_forge()
    with stage.sim.world.lock:
        from fixtures.simulator.rules.queue import queue_enter

        queue_enter(stage.sim.world, stage.sim.git, pull, stage.sim.world.users["dev"], expected=None)
    stage.converged(pull)
    stage.settle()
    assert stage.flow.state == "queued"
    assert stage.sim.log.count("enqueue") == 0


def test_admin_merging_goes_past_the_queue(stage):
    stage.config(merge_admin=True)
    stage.repository()
    stage.sim.verbs.enable_queue(REPO)
    stage.converged(stage.pull_on_forge())
    stage.settle(passes=3)
    assert stage.attempts[0].method == "squash"
    assert stage.sim.log.count("enqueue") == 0


def test_a_queue_beside_the_forge_is_entered_by_one_comment_that_names_the_head(stage):
    stage.repository()
    stage.sim.verbs.push(
        REPO, "main", {".github/merge-protocol.json": '{"land": {"method": "mergify_queue"}}'}, "Declare"
    )
    pull = stage.pull_on_forge()
    stage.converged(pull)
    stage.settle()
    assert stage.flow.state == "queued"
    comment = stage.sim.verbs.expect_comment(pull, "@mergifyio queue")
    assert f"<!-- head: {pull.head_sha} -->" in comment.body
    stage.sim.verbs.merge_by_hand(pull, method="merge")
    stage.settle()
    assert stage.flow.state == "merged"
    assert stage.outcomes[-1] == ("merged", "landed")

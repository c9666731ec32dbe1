from datetime import timedelta

import pytest

from convergence.models import Escalation
from merging.decisions.timing import COMPUTING_LOOKS
from merging.flow import MERGE_WAKES
from merging.waiting import SENTENCES, merge_waiting_for
from runs.clock import now
from runs.models import Outbox
from tests.db.merging.stage import REPO
from tests.db.merging.test_ended_elsewhere import in_state
from tests.db.merging.test_merge_call import ready


def facts_of(waiting):
    return tuple(wake.fact for wake in waiting.would_move_on)


@pytest.mark.parametrize("state", ["waiting_merge", "repolling", "escalated"])
def test_a_wait_names_exactly_the_facts_that_move_it(stage, state):
    in_state(stage, state)
    waiting = merge_waiting_for(stage.flow)

    assert facts_of(waiting) == MERGE_WAKES[state]
    assert all(wake.now and wake.need for wake in waiting.would_move_on)
    assert waiting.sentence
    assert waiting.next_look_at == stage.flow.due_at
    assert waiting.last_look_error == ""


def test_the_reason_is_that_of_the_last_reading(stage):
    in_state(stage, "waiting_merge")
    waiting = merge_waiting_for(stage.flow)
    assert (waiting.reason, waiting.sentence) == ("review_required", SENTENCES["review_required"])
    assert waiting.due_at == stage.flow.timer_at


def test_a_question_waits_with_its_own_words(stage):
    in_state(stage, "escalated")
    waiting = merge_waiting_for(stage.flow)
    assert waiting.reason == "human_answer"
    assert waiting.sentence == Escalation.objects.get().task.question


def test_a_merge_in_hand_says_whether_it_was_sent(stage):
    ready(stage)
    waiting = merge_waiting_for(stage.flow)
    assert (waiting.reason, facts_of(waiting)) == ("merging", MERGE_WAKES["merging"])
    assert waiting.would_move_on[0].now == "not sent yet"

    stage.sim.faults.lose_answer("merge")
    stage.deliver()
    assert merge_waiting_for(stage.flow).would_move_on[0].now.startswith("sent at")


def test_a_landing_names_its_commit_and_base(stage):
    pull = stage.converged()
    stage.sim.faults.fail_next("compare", 500)
    stage.settle(passes=2)
    waiting = merge_waiting_for(stage.flow)
    assert (waiting.reason, facts_of(waiting)) == ("landing", MERGE_WAKES["verifying_landing"])
    assert pull.merge_commit_sha[:7] in waiting.sentence
    assert waiting.paused_by == "forge_unavailable"


def test_a_rest_after_a_counted_retry_is_a_reason(stage):
    ready(stage)
    stage.sim.faults.fail_next("merge", 405, message="Base branch was modified")
    stage.deliver()
    stage.look()
    assert merge_waiting_for(stage.flow).reason == "retry_pause"
    assert stage.flow.due_at <= stage.flow.retry_at


def test_an_answer_counts_while_the_forge_cannot_be_read(stage):
    in_state(stage, "escalated")
    stage.answer(resolution="abandon")
    fault = stage.sim.faults.fail_next(None, 500, times=-1)
    stage.look()
    assert stage.pull.state == "abandoned"
    fault.left = 0


def test_a_merge_whose_reading_fails_sends_nothing_and_is_tried_again(stage):
    """MG-H1: without a reading of this moment there is no call."""
    ready(stage)
    fault = stage.sim.faults.fail_next(None, 500, times=-1)
    stage.deliver()
    fault.left = 0
    assert stage.flow.state == "merging"
    assert stage.attempts == []
    effect = Outbox.objects.filter(topic="flow.effect").latest("id")
    assert (effect.done_at, effect.dead_at) == (None, None)

    stage.settle()
    assert stage.pull.state == "merged"
    assert stage.calls() == 1


def test_a_probe_that_shows_an_unreviewed_head_does_not_merge_it(stage):
    """MG-H2: the head of the newest reading is the one that is judged."""
    in_state(stage, "waiting_merge")
    stage.passes(minutes=31)

    def pushed():
        stage.sim.verbs.protect("acme/shop")
        stage.push()

    stage.sim.faults.race("get_pull", then=pushed)
    stage.look()
    assert stage.calls() == 0
    assert stage.edges[-1] == "returned"


def test_a_busy_base_never_leaves_a_mergeability_to_the_poll(stage):
    """MG-S1: each landing of others has GitHub compute anew, and the short rhythm begins anew with it."""
    stage.converged()
    while stage.flow.state == "waiting_deps":
        stage.look()
    for number in range(len(COMPUTING_LOOKS) + 2):
        stage.sim.verbs.push(REPO, "main", {f"other-{number}.py": "x = 1\n"}, "Somebody else's")
        begun = now()
        stage.look()
        assert (stage.flow.state, stage.flow.verdict_reason) == ("waiting_merge", "computing")
        assert stage.flow.due_at - begun < timedelta(seconds=2)
    stage.settle()
    assert stage.pull.state == "merged"


def test_a_mergeability_that_stays_unknown_is_looked_at_ever_more_rarely(stage):
    """MG-S8"""
    pull = stage.converged()
    while stage.flow.state == "waiting_deps":
        stage.look()
    stage.sim.verbs.push(REPO, "main", {"other.py": "x = 1\n"}, "Somebody else's")
    pauses = []
    for _ in range(len(COMPUTING_LOOKS) + 1):
        pull.merge_lag_left = 1
        begun = now()
        stage.look()
        pauses.append((stage.flow.due_at - begun).total_seconds())
    assert [round(pause) for pause in pauses[:-1]] == list(COMPUTING_LOOKS)
    assert pauses[-1] > COMPUTING_LOOKS[-1]

"""A quiet world: nothing happens but looks and time, and every pull request must come to its end or to one person."""

from convergence.flow import FINAL_PULL_STATES
from convergence.models import ConvergenceFlow
from merging.models import MergeFlow
from runs.models import Attempt, HumanTask, Outbox
from runs.outbox.dispatch import consumed_topics
from tests import queue_driver as queue
from tests.db.histories.moves.agents import claim
from tests.db.histories.moves.faults import cease
from tests.db.histories.moves.order import released
from tests.db.histories.resting import unfounded, waits_for_one_at_rest
from tests.db.histories.watch import Broken

MOST_PASSES = 250
SOON, LONGEST = 20.0, 7200.0  # seconds between two passes, longer while nothing moves


def settle(stage):
    """Let the world be quiet until everything rests; Broken when something does not, or loops."""
    cease(stage)
    released(stage)
    pause = SOON
    for _ in range(MOST_PASSES):
        if _rests(stage):
            break
        before = dict(stage.watch.edges)
        _agents_fail()
        stage.passes(pause)
        pause = SOON if stage.watch.edges != before else min(pause * 3, LONGEST)
    else:
        waiting = Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True, topic__in=consumed_topics())
        outbox = [f"{row.topic} {row.key}: {row.last_error}" for row in waiting]
        raise Broken("\n".join(["wedged or looping in a quiet world:", *_left(stage), *unfounded(stage), *outbox]))
    _none_lost(stage)


def _agents_fail():
    """Whatever is queued is taken by a worker whose agent crashes."""
    while attempt := claim():
        queue.beat(attempt, "running", 1)
        queue.publish(attempt, queue.failed_body(attempt))
    for attempt in Attempt.objects.filter(finished_at__isnull=True):
        queue.make_due(attempt, expired=True)


def _rests(stage):
    waiting = Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True, topic__in=consumed_topics())
    return not (_left(stage) or unfounded(stage) or waiting.exists())


def _left(stage):
    """What neither ended nor waits for one person, in words."""
    left = []
    asked = set(HumanTask.objects.filter(state="open").values_list("subject", flat=True))
    for pull, row in stage.rows():
        if row.state in FINAL_PULL_STATES or row.subject in asked:
            continue
        if row.state == "waiting_deps" and waits_for_one_at_rest(stage, pull):
            continue
        flows = [*ConvergenceFlow.rows().filter(pull=row), *MergeFlow.rows().filter(pull=row)]
        left += [
            f"{row.key} {flow.state} due {flow.due_at} timer {flow.timer_at}: {flow.last_look_error}"
            for flow in flows
            if flow.ended_at is None
        ] or [f"{row.key} {row.state} without a flow"]
    return left


def _none_lost(stage):
    """What is merged on the forge is merged here, and what was driven to its merge here is merged there."""
    for pull, row in stage.rows():
        asked = HumanTask.objects.filter(subject=row.subject, state="open").exists()
        if row.state == "merged" and pull.state != "MERGED":
            raise Broken(f"{pull.key} counts as merged and is {pull.state}")
        if pull.state == "MERGED" and row.state not in ("merged", "abandoned", "converged") and not asked:
            raise Broken(f"{pull.key} is merged and counts as {row.state}")

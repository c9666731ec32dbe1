"""Merge queues: the forge's own, which lands, drops and is told to let go, and one beside the forge."""

from fixtures.simulator.rules.merging import Refusal
from fixtures.simulator.rules.queue import queue_enter
from tests.db.histories.moves.directed import waiting
from tests.db.histories.moves.faults import cease
from tests.db.histories.moves.merging import made_ready
from tests.db.histories.moves.table import move


@move(12)
def the_queue_works(stage, how=""):
    """The oldest entry lands, or leaves for one of the reasons that a queue knows."""
    pull = next((pull for pull in stage.pulls if pull.queue), None)
    if pull is None:
        return
    how = how or stage.one(["land", "land", "land", "conflict", "checks", "person"])
    if how == "land":
        _lands(stage, pull)
    elif how == "conflict":
        stage.sim.verbs.evict(pull, "merge conflict")
    elif how == "checks":
        stage.sim.verbs.evict(pull, "failed checks", failed_check="integration")
    else:
        stage.sim.verbs.evict(pull, "dequeued by a user", by="dev")


def _lands(stage, pull):
    """What was pushed meanwhile goes along, unless the product takes it back in the time that the queue needs."""
    if pull.draft or not stage.sim.world.protection(pull.repo, pull.base_ref).merge_queue:
        stage.sim.verbs.evict(pull, "no longer allowed")
        return
    if pull.head_sha != stage.merges.entered_at[pull.number]:
        cease(stage)
        stage.passes(125)
        stage.passes(65)
        stage.passes(65)
    try:
        if pull.queue:
            stage.sim.verbs.queue_land(pull)
    except Refusal:
        if pull.state == "OPEN":
            stage.sim.verbs.evict(pull, "failed checks")


@move(2)
def pushed_while_queued(stage):
    pull = next((pull for pull in stage.pulls if pull.queue), None)
    if pull is not None:
        stage.count += 1
        files = {"QUEUED.md": f"{stage.count}\n"}
        stage.sim.verbs.push(pull.repo, pull.head_ref, files, f"Work {stage.count}", by="dev")


@move(2)
def enters_the_queue_by_hand(stage):
    pull, _ = waiting(stage)
    if pull is None:
        return
    stage.sim.verbs.enable_queue(pull.repo, pull.base_ref)
    made_ready(stage, pull)
    try:
        queue_enter(stage.sim.world, stage.sim.git, pull, pull.author, expected=None)
    except Refusal:
        stage.note("refused")
    stage.passes(61)


@move(2)
def the_queue_drops_it_again_and_again(stage):
    for _ in range(stage.one([1, 3, 7])):
        pull = stage.one(pull for pull in stage.pulls if pull.queue)
        if pull is None:
            return
        why = stage.one(["merge conflict", "queue cleared", "failed checks"])
        stage.sim.verbs.evict(pull, why, failed_check="integration" if why == "failed checks" else "")
        stage.passes(61)
        stage.passes(61)


@move(6)
def mergify_works(stage):
    """The queue beside the forge merges what a comment asked it to, at that head alone."""
    for pull in stage.pulls:
        asked = [c for c in pull.comments if c.author is stage.sim.world.viewer and "@mergifyio queue" in c.body]
        if pull.state == "OPEN" and asked and f"<!-- head: {pull.head_sha} -->" in asked[-1].body:
            stage.sim.verbs.add_bot("mergify")
            try:
                stage.sim.verbs.merge_by_hand(pull, by="mergify", method="squash")
            except Refusal:
                stage.note("refused")

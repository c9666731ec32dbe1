"""Openings that end out of band."""

from convergence.services.cancel import pull_cancel
from tests.db.histories.moves import people
from tests.db.histories.openings.acting import look, until
from tests.db.histories.openings.table import opening


def somewhere(stage):
    """Any state on the way."""
    until(stage, stage.one(["capture_head", "review_round"]))


@opening("convergence:merged_elsewhere", rules={})
def merged_by_a_person(stage):
    somewhere(stage)
    stage.sim.verbs.edit(stage.pulls[0], draft=False)
    stage.sim.verbs.merge_by_hand(stage.pulls[0])
    look(stage)


@opening("convergence:closed_elsewhere")
def closed_by_a_person(stage):
    somewhere(stage)
    stage.sim.verbs.close(stage.pulls[0])
    look(stage)


@opening("convergence:cancelled")
def cancelled_by_a_person(stage):
    somewhere(stage)
    _, row = stage.rows()[0]
    people.allowed(stage, lambda: pull_cancel(pull=row, actor=people.PERSON))


@opening("convergence:unreachable")
def hidden(stage):
    somewhere(stage)
    stage.sim.faults.forbid(stage.pulls[0].repo.full_name, 404)
    for _ in range(4):
        stage.passes(301)
        look(stage)
    stage.sim.faults.cease("forbid")

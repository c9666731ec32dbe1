"""Time, passes and restarts of the product."""

from tests.db.histories.moves.table import move


@move(30)
def passes(stage):
    stage.passes(stage.one([1, 1, 5, 20, 60]))


@move(12)
def until_something_is_due(stage):
    stage.passes(stage.next_instant())


@move(5)
def long_time(stage):
    stage.passes(stage.one([300, 1200, 3700, 7300, 23_000]))


@move(6)
def looks_without_deliveries(stage):
    stage.look()


@move(4)
def restarts(stage):
    stage.restart()

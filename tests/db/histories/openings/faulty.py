"""Openings in which a fault strikes that needs something to strike at."""

from merging.models import MergeFlow
from tests.db.histories.moves import code
from tests.db.histories.openings.acting import TEXT, findings, look, suppressed, turn, until, waiting
from tests.db.histories.openings.table import opening

MORE_THAN_A_PAGE = 101


@opening("fault:shift", reviewed=True)
def a_list_that_grows_between_its_pages(stage):
    findings(stage, MORE_THAN_A_PAGE, text=TEXT)
    stage.sim.faults.shift("reviewThreads", times=1)
    turn(stage, "converged")
    until(stage, "await_answer")
    for thread in stage.pulls[0].threads[2:]:
        stage.sim.verbs.resolve(thread)


@opening("fault:truncate", reviewed=True)
def a_list_that_ends_too_soon(stage):
    findings(stage)
    turn(stage, "converged", resolve=False)
    stage.sim.faults.truncate("reviewThreads", 0, times=2)
    until(stage, "await_answer")


@opening("fault:slow_graphql", reviewed=True, pulls=2)
def an_answer_that_takes_too_long_for_two(stage):
    stage.sim.faults.slow_graphql(1)
    for _ in range(2):
        stage.passes(61)


@opening("fault:ignore_request", "fault:dismiss_request", reviewed=True, max_rounds=20)
def a_reviewer_that_is_asked_for_nothing(stage):
    stage.sim.faults.ignore_request()
    stage.sim.faults.dismiss_request()
    for _ in range(2):
        stage.sim.verbs.script_review(stage.pulls[0], clean=True, after=2)
    waiting(stage)
    for _ in range(3):
        stage.passes(301)
        look(stage)


@opening("fault:ignore_enqueue", merging=True, queue=True, draft=False)
def a_queue_that_takes_nothing_in(stage):
    stage.sim.faults.ignore_enqueue()
    _merged(stage)


@opening("fault:race", merging=True, rules={}, draft=False)
def a_push_at_the_call(stage):
    stage.sim.faults.race("merge", lambda: code.push(stage, stage.pulls[0]))
    _merged(stage)


@opening("fault:shorten_next", "fault:garble_next", reviewed=True)
def an_answer_that_cannot_be_read(stage):
    suppressed(stage)
    for fault in (stage.sim.faults.shorten_next, stage.sim.faults.garble_next):
        fault("graphql:Pulls")
        look(stage)
    turn(stage, "converged")


def _merged(stage):
    """Looks until the merge of the first pull request was tried."""
    for _ in range(6):
        if MergeFlow.rows().filter(pull__number=stage.pulls[0].number, attempts__sent_at__isnull=False).exists():
            return
        stage.passes(max(61.0, stage.next_instant()))

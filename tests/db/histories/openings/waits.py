"""Openings around the wait for a review."""

from tests.db.histories.openings.acting import clean, findings, look, turn, until, waiting
from tests.db.histories.openings.table import opening


@opening("convergence:empty_review_arrived", reviewed=True, skip="true", max_rounds=20)
def an_empty_review(stage):
    waiting(stage)
    clean(stage)
    look(stage)


@opening("convergence:review_stalled", reviewed=True, max_rounds=20)
def a_review_that_never_comes(stage):
    waiting(stage)
    stage.passes(2000)
    look(stage)


@opening("convergence:reviewer_unavailable", reviewed=True, away="escalate", max_rounds=20)
@opening("convergence:reviewer_unavailable_passed", reviewed=True, away="proceed", max_rounds=20)
def a_reviewer_that_cannot_be_asked(stage):
    stage.sim.faults.fail_next("request_review", 422, times=3)
    waiting(stage)
    for _ in range(3):
        look(stage)


@opening("convergence:stale_no_more", reviewed=True, max_rounds=20)
def a_request_for_changes_of_before(stage):
    pull = stage.pulls[0]
    stage.sim.verbs.review(pull, "maria", "CHANGES_REQUESTED", "Not yet.")
    waiting(stage)
    findings(stage)
    look(stage)
    turn(stage, "converged")
    until(stage, "await_review")
    stage.sim.verbs.review(pull, "maria", "APPROVED", "Now it is.", sha=min(stage.heads[pull.number]))
    look(stage)

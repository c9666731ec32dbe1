"""Openings that end at the gate."""

from tests.db.histories.openings.acting import answered, clean, findings, look, suppressed, turn, until
from tests.db.histories.openings.table import opening


@opening("convergence:gate_passed", reviewed=True, scope="never")
def nothing_open(stage):
    clean(stage)
    turn(stage, "converged")
    until(stage, "converged")


@opening("convergence:gate_stale", reviewed=True, scope="never")
def no_review_of_the_head(stage):
    turn(stage, "converged")
    until(stage, "await_review")


@opening("convergence:gate_blocked", "convergence:answered_waive", reviewed=True, scope="never")
def an_open_thread(stage):
    findings(stage)
    turn(stage, "converged", resolve=False)
    until(stage, "await_answer")
    answered(stage, answer="Let it pass.", waive=True)
    look(stage)


@opening("convergence:ack_repeated", "convergence:ack_budget_spent", reviewed=True, ack_retries=1)
def paperwork_left_undone(stage):
    suppressed(stage)
    for _ in range(2):
        turn(stage, "converged")
        until(stage, "review_round", "await_answer")


@opening("convergence:gate_unverifiable", reviewed=True)
def a_review_that_cannot_be_read(stage):
    suppressed(stage, announced=2)
    turn(stage, "converged")
    until(stage, "await_answer")

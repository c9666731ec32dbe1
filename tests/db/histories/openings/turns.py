"""Openings around the agent's turn and its progress."""

from runs.humans.tasks import task_revert
from runs.models import Run
from runs.queue.cancel import run_cancel
from tests import queue_driver as queue
from tests.db.histories.moves import people
from tests.db.histories.openings.acting import (
    answered,
    begun,
    findings,
    look,
    turn,
    turn_fails,
    until,
    waiting,
)
from tests.db.histories.openings.table import opening

QUESTION = "Which total is right?"


@opening("convergence:asked_input", "convergence:answered", max_rounds=20)
def a_question(stage):
    turn(stage, "needs_input", question=QUESTION)
    answered(stage, answer="The sum.")
    look(stage)


@opening("convergence:asked_blocked", "convergence:answered_abandon", max_rounds=20)
def a_blocker(stage):
    turn(stage, "blocked", question=QUESTION)
    answered(stage, resolution="abandon")
    look(stage)


@opening("convergence:answer_recalled", max_rounds=20, reviewed=True, churn=4)
def a_question_again(stage):
    turn(stage, "needs_input", question=QUESTION)
    answered(stage, answer="The sum.")
    waiting(stage)
    findings(stage)
    look(stage)
    turn(stage, "needs_input", question=QUESTION)


@opening("convergence:answer_reverted", max_rounds=20)
def an_answer_taken_back(stage):
    turn(stage, "needs_input", question=QUESTION)
    task = answered(stage, answer="The sum.")
    until(stage, "capture_head", "review_round")
    if task:
        people.allowed(stage, lambda: task_revert(task_id=task.pk, actor=people.PERSON))
    look(stage)


@opening("convergence:run_refused")
def a_refusal(stage):
    turn_fails(stage, queue.refused_body)


@opening("convergence:run_cancelled")
def a_cancelled_run(stage):
    if attempt := begun(stage):
        run = Run.objects.get(pk=attempt.run_id)
        people.allowed(stage, lambda: run_cancel(run=run, code="operator_cancel", actor=people.PERSON))
        look(stage)


@opening("convergence:turn_lost", "convergence:husk_retried", "convergence:husk_exhausted", max_rounds=20)
def crashes(stage):
    for _ in range(3):
        turn_fails(stage, queue.failed_body)
        until(stage, "review_round", "await_answer")


@opening("convergence:agent_sla_passed")
def an_agent_without_end(stage):
    if begun(stage):
        look(stage)
        stage.sim.clock.advance(7300)
        stage.look()
        stage.passes(1)


@opening("convergence:round_cap_reached", max_rounds=1)
def the_last_round(stage):
    turn(stage, "addressed", push=True)
    until(stage, "await_answer")


@opening("convergence:churn_detected", "convergence:review_arrived", max_rounds=20, churn=1, reviewed=True)
def rounds_that_lead_nowhere(stage):
    for _ in range(3):
        waiting(stage)
        findings(stage)
        look(stage)


@opening("convergence:no_advance")
def nothing_pushed(stage):
    turn(stage, "addressed")
    until(stage, "await_answer")

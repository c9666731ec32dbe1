"""Openings around the scope check."""

from tests.db.histories.moves import code
from tests.db.histories.openings.acting import answered, clean, findings, look, scope_says, turn, until, waiting
from tests.db.histories.openings.table import opening

TAXES, RETURNS = "Taxes are left out.", "Returns are left out."


def asked(stage):
    """A reviewed head whose scope is checked."""
    clean(stage)
    turn(stage, "converged")
    until(stage, "scope_check")


@opening("convergence:scope_asked", "convergence:scope_passed", reviewed=True, scope="always")
def a_scope_that_is_delivered(stage):
    asked(stage)
    scope_says(stage)


@opening("convergence:scope_outdated", reviewed=True, scope="always")
def a_change_during_the_check(stage):
    asked(stage)
    stage.one([findings, lambda stage: code.push(stage, stage.pulls[0])])(stage)
    scope_says(stage)


@opening("convergence:scope_blocked", reviewed=True, scope="always")
def a_scope_that_is_not(stage):
    asked(stage)
    scope_says(stage, TAXES)
    answered(stage, answer="Ship it.")
    look(stage)


@opening("convergence:scope_answer_recalled", reviewed=True, scope="always", max_rounds=20, churn=4)
def a_ruling_of_before(stage):
    asked(stage)
    for reason in (TAXES, RETURNS):
        scope_says(stage, reason)
        answered(stage, answer="Ship it.")
        look(stage)
        if reason == TAXES:
            turn(stage, "converged")
    waiting(stage)
    findings(stage)
    look(stage)
    turn(stage, "converged")
    until(stage, "scope_check")
    scope_says(stage, TAXES)

"""What a subject or a run may still spend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

from runs.models import Hold, Run, SpendScope
from runs.policy import policy
from runs.queue.limits.balance import Amount, Balance, Limit, limit_of
from runs.queue.limits.blocking import can_spend
from runs.queue.limits.standing import RESERVED
from runs.rows.direct import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

SPENT = """
SELECT 'spent', scope, key, SUM(cost_micro_usd), SUM(tokens)
FROM runs_spend WHERE scope = %s AND key IN ({keys}) GROUP BY scope, key
"""
RAISED = """
SELECT 'raised', scope, key, SUM(cost_micro_usd), SUM(tokens)
FROM runs_budgetraise WHERE scope = %s AND key IN ({keys}) GROUP BY scope, key
"""
# The run of an unfinished attempt has that attempt alone, so only a subject's runs reserve beside the one in hand. The
# join keeps SQLite to the order that is written: few attempts are open, and a subject may have thousands of old runs.
OF_SUBJECT = """
SELECT 'reserved', 'subject', r.subject, {reserved}
FROM runs_attempt AS a{index}
CROSS JOIN runs_run AS r
LEFT JOIN runs_usage AS u ON u.attempt_id = a.id
WHERE r.id = a.run_id AND a.finished_at IS NULL AND r.subject IN ({keys}) GROUP BY r.subject
"""
Key = tuple[str, str]  # scope and key of a limit


def run_limit(run: Run) -> Limit:
    """The run's own budget, else the policy's for every run."""
    own = Limit(run.budget_micro_usd, run.budget_tokens)
    return own or limit_of(policy().budgets.per_run)


def limits_of_run(run: Run) -> dict[SpendScope, Limit]:
    """The finite limits of its subject and of the run itself; none for a run that cannot spend."""
    if run.placement_class is None or not can_spend(run.placement_class):
        return {}
    found = {SpendScope.SUBJECT: limit_of(policy().budgets.per_subject), SpendScope.RUN: run_limit(run)}
    return {scope: limit for scope, limit in found.items() if limit}


def run_balances(run: Run) -> dict[SpendScope, Balance]:
    """What stands on the finite limits that this run goes by; one statement, none where there is no limit."""
    limits = limits_of_run(run)
    keys = {SpendScope.SUBJECT: run.subject, SpendScope.RUN: run.run_id}
    found = balances({(str(scope), keys[scope]): limit for scope, limit in limits.items()})
    return {scope: found[(str(scope), keys[scope])] for scope in limits}


def budget_hold(balances_of_run: dict[SpendScope, Balance]) -> Hold:
    """The hold that a reached limit means: the subject's first, then the run's own; NONE where neither is reached."""
    for scope, hold in ((SpendScope.SUBJECT, Hold.SUBJECT_BUDGET), (SpendScope.RUN, Hold.RUN_BUDGET)):
        balance = balances_of_run.get(scope)
        if balance is not None and balance.is_reached:
            return hold
    return Hold.NONE


def balances(limits: dict[Key, Limit]) -> dict[Key, Balance]:
    """What was spent, is reserved and was raised of each of these limits of subjects and runs; one statement."""
    if not limits:
        return {}
    sums: dict[tuple[str, str, str], Amount] = {}
    text, parameters = statement(list(limits))
    for kind, scope, key, micro, tokens in rows_of(text, parameters):
        sums[(kind, scope, key)] = Amount(int(micro or 0), int(tokens or 0))
    return {
        (scope, key): Balance(
            limit,
            spent=sums.get(("spent", scope, key), Amount()),
            reserved=sums.get(("reserved", scope, key), Amount()),
            raised=sums.get(("raised", scope, key), Amount()),
        )
        for (scope, key), limit in limits.items()
    }


def statement(limits: Sequence[Key]) -> tuple[str, list[Any]]:
    """The one statement that sums these limits, and its parameters."""
    parts, parameters = [], []
    index = " INDEXED BY attempt_open_by_class" if connection.vendor == "sqlite" else ""
    for scope in sorted({scope for scope, _ in limits}):
        keys = [key for each, key in limits if each == scope]
        marks = ", ".join(["%s"] * len(keys))
        parts += [SPENT.format(keys=marks), RAISED.format(keys=marks)]
        parameters += [scope, *keys, scope, *keys]
        if scope == SpendScope.SUBJECT:
            parts.append(OF_SUBJECT.format(keys=marks, index=index, reserved=RESERVED))
            parameters += keys
    return " UNION ALL ".join(parts), parameters

"""Reading what stands now, in one statement: pauses in force, unfinished attempts, what the day has cost.

What no limit asks for is left out of the statement, so a fleet without caps does not count its attempts. Each part
repeats the condition of its index literally; SQLite is told the index of the attempts by name, as for the claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from runs.clock import now
from runs.policy import policy
from runs.queue.limits.balance import Amount, Balance, limit_of
from runs.queue.limits.blocking import OpenAttempts, PauseSeen, Standing, caps_of
from runs.rows.direct import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Any

    from runs.models import PlacementClass
    from runs.policy import Policy

# kind, key, scope or weight, repository, agent, node, count, µUSD, tokens
PAUSES = """
SELECT 'pause', id, scope, key, '', '', 0, 0, 0
FROM runs_pause WHERE lifted_at IS NULL AND (until IS NULL OR until > %s)
"""
# What an attempt has reserved: what its run might still spend, less what it has reported (that is charged already).
RESERVED = """
SUM(CASE WHEN a.budget_micro_usd > COALESCE(u.cost_micro_usd, 0)
         THEN a.budget_micro_usd - COALESCE(u.cost_micro_usd, 0) ELSE 0 END),
SUM(CASE WHEN a.budget_tokens > COALESCE(u.input_tokens + u.output_tokens + u.cache_read_tokens
                                         + u.cache_write_tokens, 0)
         THEN a.budget_tokens - COALESCE(u.input_tokens + u.output_tokens + u.cache_read_tokens
                                         + u.cache_write_tokens, 0) ELSE 0 END)
"""
OPEN = """
SELECT 'open', 0, c.weight_class, c.repository, c.agent_id, a.node, COUNT(*), {reserved}
FROM runs_attempt AS a{index}
JOIN runs_placementclass AS c ON c.id = a.placement_class_id
LEFT JOIN runs_usage AS u ON u.attempt_id = a.id
WHERE a.finished_at IS NULL
GROUP BY c.weight_class, c.repository, c.agent_id, a.node
"""
SPENT = """
SELECT 'spent', 0, '', '', '', '', 0, cost_micro_usd, tokens
FROM runs_spend WHERE scope = 'day' AND key = '' AND day = %s
"""
RAISED = """
SELECT 'raised', 0, '', '', '', '', 0, SUM(cost_micro_usd), SUM(tokens)
FROM runs_budgetraise WHERE scope = 'day' AND key = %s
"""
ORDER = {"global": 0, "repository": 1, "agent": 2}


def standing_now(*, at: datetime | None = None, whole: bool = False) -> Standing:
    """What stands now. Reads only, one statement; ``whole`` counts attempts and the day where no limit asks, too."""
    rules, at = policy(), at or now()
    text, parameters = statement(rules, at, whole=whole)
    return _standing(rules, rows_of(text, parameters), whole=whole)


def caps_locked(rows: Iterable[PlacementClass], node: str) -> None:
    """Let claims that count the same caps follow each other until the end of the transaction, on PostgreSQL.

    Every cap of every class that may be taken is locked at once, in one order, so that no two claims wait in a circle.
    SQLite lets one writer in at a time anyway.
    """
    if connection.vendor != "postgresql":
        return
    rules = policy()
    names = sorted({cap.lock_name for row in rows for cap in caps_of(row, rules, node)})
    if names:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name", [names]
            )


def statement(rules: Policy, at: datetime, *, whole: bool = False) -> tuple[str, list[Any]]:
    """The statement for this policy, and its parameters."""
    parts, parameters = [PAUSES], [connection.ops.adapt_datetimefield_value(at)]
    has_day = whole or bool(limit_of(rules.budgets.per_day))
    if has_day or rules.caps_attempts:
        index = " INDEXED BY attempt_open_by_class" if connection.vendor == "sqlite" else ""
        parts.append(OPEN.format(index=index, reserved=RESERVED))
    if has_day:
        parts += [SPENT, RAISED]
        parameters += [connection.ops.adapt_datefield_value(at.date()), at.date().isoformat()]
    return " UNION ALL ".join(parts), parameters


def _standing(rules: Policy, rows: Sequence[Sequence[Any]], *, whole: bool) -> Standing:
    pauses = sorted(
        (PauseSeen(row[1], row[2], row[3]) for row in rows if row[0] == "pause"), key=lambda each: ORDER[each.scope]
    )
    attempts = [OpenAttempts(row[2], row[3], row[4], row[5], row[6], _amount(row)) for row in rows if row[0] == "open"]
    limit = limit_of(rules.budgets.per_day)
    day = None
    if limit or whole:
        day = Balance(
            limit,
            spent=_sum(row for row in rows if row[0] == "spent"),
            reserved=sum((each.reserved for each in attempts), Amount()),
            raised=_sum(row for row in rows if row[0] == "raised"),
        )
    return Standing(rules, pauses, attempts, day)


def _sum(rows: Iterable[Sequence[Any]]) -> Amount:
    return sum((_amount(row) for row in rows), Amount())


def _amount(row: Sequence[Any]) -> Amount:
    return Amount(int(row[7] or 0), int(row[8] or 0))

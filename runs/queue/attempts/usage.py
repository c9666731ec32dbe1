"""Charging what attempts use: running totals that only grow, and the sums that limits and pages read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs.contract.errors import Invalid
from runs.models import Attempt, CostSource, Run, SpendScope, Usage
from runs.policy import policy
from runs.rows import row_find, row_new, row_save, rows_insert, together
from runs.rows.direct import changed_by

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MICRO = 1_000_000  # µUSD in a USD
# One statement for the three sums of a charge, always in this order, so that two charges never wait for each other
# in a circle.
ADD_SPEND = """
INSERT INTO runs_spend (scope, key, day, cost_micro_usd, tokens, is_judged)
VALUES (%s, %s, %s, %s, %s, false), (%s, %s, %s, %s, %s, false), (%s, %s, %s, %s, %s, false)
ON CONFLICT (scope, key, day) DO UPDATE SET
  cost_micro_usd = runs_spend.cost_micro_usd + excluded.cost_micro_usd,
  tokens = runs_spend.tokens + excluded.tokens,
  is_judged = false
"""
COLUMNS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "turns": "turns",
}


@dataclass(frozen=True, slots=True)
class Totals:
    """What a worker reported so far; absent means not reported. Money in µUSD."""

    counts: Mapping[str, int]
    cost_micro_usd: int | None
    model: str
    duration_ms: int | None = None


def usage_totals(reported: Mapping[str, Any] | None, *, duration_ms: int | None = None) -> Totals | None:
    """The totals of a wire document; None without one. Invalid (`malformed`) for a negative or non-finite number."""
    if reported is None:
        return None
    counts = {}
    for name, column in COLUMNS.items():
        value = reported.get(name)
        if value is not None:
            counts[column] = int(_sound(name, value))
    cost = reported.get("costUsd")
    return Totals(
        counts=counts,
        cost_micro_usd=None if cost is None else round(_sound("costUsd", cost) * MICRO),
        model=str(reported.get("model") or ""),
        duration_ms=duration_ms,
    )


def usage_record(run: Run, attempt: Attempt, totals: Totals, at: datetime) -> Usage:
    """Raise the attempt's totals to what was reported, and the sums by the difference; a smaller total is ignored."""
    has_beaten = attempt.heartbeat_seq >= 0  # before the first heartbeat nobody has charged it
    row = row_find(Usage, attempt_id=attempt.pk) if has_beaten else None
    if row is None:
        row = row_new(Usage, attempt_id=attempt.pk, adapter=attempt.adapter, model=attempt.model)
    tokens_before, cost_before = row.tokens, row.cost_micro_usd or 0
    for column, value in totals.counts.items():
        setattr(row, column, max(getattr(row, column), value))
    if totals.cost_micro_usd is not None:
        row.cost_micro_usd = max(cost_before, totals.cost_micro_usd)
        row.cost_source = CostSource.REPORTED
    elif row.cost_source != CostSource.REPORTED:
        _estimate(row, totals.model or row.model)
    if totals.duration_ms is not None:
        row.duration_ms = max(row.duration_ms, totals.duration_ms)
    row.model = totals.model or row.model
    row.updated_at = at
    with together():
        if row.pk:
            row_save(row)
        else:
            rows_insert([row])
        _spend(run, at, tokens=row.tokens - tokens_before, cost=(row.cost_micro_usd or 0) - cost_before)
    return row


def _estimate(row: Usage, model: str) -> None:
    """Put a price on what nobody priced, if the policy knows the model; else the cost stays unknown."""
    price = policy().prices.get(model)
    if price is None:
        return
    micro = (  # USD per million tokens is µUSD per token
        row.input_tokens * price.input
        + row.output_tokens * price.output
        + row.cache_read_tokens * price.cache_read
        + row.cache_write_tokens * price.cache_write
    )
    row.cost_micro_usd = max(row.cost_micro_usd or 0, round(micro))
    row.cost_source = CostSource.ESTIMATED


def usage_document(row: Usage | None) -> dict[str, Any] | None:
    """The totals as receipts and the API show them; money in USD."""
    if row is None:
        return None
    return {
        **{name: getattr(row, column) for name, column in COLUMNS.items()},
        "durationMs": row.duration_ms,
        "costUsd": None if row.cost_micro_usd is None else row.cost_micro_usd / MICRO,
        "costSource": str(row.cost_source),
        "adapter": row.adapter,
        "model": row.model or None,
    }


def _spend(run: Run, at: datetime, *, tokens: int, cost: int) -> None:
    if not tokens and not cost:
        return
    totals = ((SpendScope.DAY, ""), (SpendScope.RUN, run.run_id), (SpendScope.SUBJECT, run.subject))
    rows = [part for scope, key in totals for part in (str(scope), key, at.date(), cost, tokens)]
    changed_by(ADD_SPEND, rows)


def _sound(name: str, value: float) -> float:
    if not math.isfinite(value) or value < 0:
        raise Invalid("malformed", f"usage.{name} is negative or not a number", details={"path": f"$.usage.{name}"})
    return value

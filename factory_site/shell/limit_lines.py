"""What the day has cost and what is paused, in short: for `status`, as lines and as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.queue.limits.pauses import pauses_in_force
from runs.queue.limits.sentences import dollars, pause_name, who
from runs.queue.limits.standing import standing_now
from runs.reading.limits import amount_json

if TYPE_CHECKING:
    from datetime import datetime

    from runs.models import Pause
    from runs.queue.limits.balance import Balance


def spend_document(at: datetime) -> dict[str, Any]:
    """What today's UTC day has cost, of what it may cost. One statement."""
    day = standing_now(at=at, whole=True).day
    assert day is not None  # noqa: S101  # asked for whole
    return {
        "day": at.date().isoformat(),
        "spent": amount_json(day.spent),
        "reserved": amount_json(day.reserved),
        "allowed": amount_json(day.allowed),
        "reached": day.is_reached,
        "line": spend_line(day),
    }


def spend_line(day: Balance) -> str:
    """``today 41.20 of 200 USD · 3.1 M tokens``."""
    allowed = day.allowed
    of_usd = "" if allowed.micro_usd is None else f" of {dollars(allowed.micro_usd)}"
    of_tokens = "" if allowed.tokens is None else f" of {_short(allowed.tokens)}"
    reserved = f" · {dollars(day.reserved.micro_usd)} USD reserved" if day.reserved.micro_usd else ""
    return f"today {dollars(day.spent.micro_usd)}{of_usd} USD · {_short(day.spent.tokens)}{of_tokens} tokens{reserved}"


def pause_lines() -> list[str]:
    """One line for each pause in force: ``acme/shop since 09:12 by maria: “release freeze”``."""
    return [pause_line(each) for each in pauses_in_force()]


def pause_line(pause: Pause) -> str:
    """What is paused since when, by whom, why, and until when."""
    until = f", until {pause.until:%Y-%m-%d %H:%M}Z" if pause.until else ""
    since = f"{pause.since:%Y-%m-%d %H:%M}Z"
    return f"{pause_name(pause)} since {since} by {who(pause.actor)}: “{pause.reason}”{until}"


def pause_json(row: Pause) -> dict[str, Any]:
    """One pause on the wire."""
    return {
        "id": row.pk,
        "scope": row.scope,
        "key": row.key or None,
        "reason": row.reason,
        "by": row.actor,
        "since": row.since,
        "until": row.until,
        "liftedAt": row.lifted_at,
        "liftedBy": row.lifted_by or None,
        "liftReason": row.lift_reason or None,
    }


def _short(tokens: int) -> str:
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M")):
        if tokens >= size:
            return f"{tokens / size:.1f} {unit}"
    return f"{tokens:,}"

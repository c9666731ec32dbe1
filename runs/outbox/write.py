"""Adding to the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.clock import now as clock_now
from runs.models.outbox import Outbox
from runs.nudge import nudge
from runs.rows import row_insert_once, row_new

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


def outbox_add(
    *,
    topic: str,
    key: str,
    stream: str,
    payload: Mapping[str, Any],
    available_at: datetime | None = None,
    at: datetime | None = None,
) -> Outbox:
    """Add one delivery in the caller's transaction; the same key again returns the first row and adds nothing.

    ``at``: the instant of that transaction, where the caller knows it.
    """
    now = at or clock_now()
    row = row_new(
        Outbox,
        topic=topic,
        key=key,
        stream=stream,
        payload=dict(payload),
        created_at=now,
        available_at=available_at or now,
    )
    if not row_insert_once(row):
        return Outbox.objects.get(key=key)
    nudge("outbox")
    return row

"""Adding to the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.clock import now as clock_now
from runs.models.outbox import Outbox
from runs.nudge import nudge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


def outbox_add(
    *, topic: str, key: str, stream: str, payload: Mapping[str, Any], available_at: datetime | None = None
) -> Outbox:
    """Add one delivery in the caller's transaction; the same key again returns the first row and adds nothing."""
    now = clock_now()
    row, created = Outbox.objects.get_or_create(
        key=key,
        defaults={
            "topic": topic,
            "stream": stream,
            "payload": dict(payload),
            "created_at": now,
            "available_at": available_at or now,
        },
    )
    if created:
        nudge("outbox")
    return row

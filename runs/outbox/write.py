"""Adding to the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError

from runs.clock import now as clock_now
from runs.models.outbox import Outbox
from runs.nudge import nudge
from runs.rows import row_find, row_insert
from runs.transactions import contested

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


def outbox_add(
    *, topic: str, key: str, stream: str, payload: Mapping[str, Any], available_at: datetime | None = None
) -> Outbox:
    """Add one delivery in the caller's transaction; the same key again returns the first row and adds nothing."""
    known = row_find(Outbox, key=key)
    if known is not None:
        return known
    now = clock_now()
    row = Outbox(
        topic=topic,
        key=key,
        stream=stream,
        payload=dict(payload),
        created_at=now,
        available_at=available_at or now,
    )
    try:
        with contested():
            row_insert(row)
    except IntegrityError:
        return Outbox.objects.get(key=key)  # written at the same time by another transaction, which has committed
    nudge("outbox")
    return row

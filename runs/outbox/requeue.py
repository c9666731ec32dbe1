"""Giving a dead delivery another row of tries."""

from __future__ import annotations

import logging

from runs.clock import now
from runs.contract.errors import NotFound, Refused
from runs.models.outbox import Outbox
from runs.nudge import nudge
from runs.transactions import joined_transaction

_log = logging.getLogger(__name__)

MOST_KEY = 2**63 - 1  # of any row
TRIED_BEFORE = 1  # an earlier try may have had its effect: the consumer still looks before it acts


def outbox_requeue(*, row_id: int, actor: str) -> Outbox:
    """Have a dead row delivered again, at once and with a new budget of tries; who asked is kept on the row.

    Raises NotFound `unknown_outbox_row`, and Refused `not_requeueable` for a row that is not dead.
    """
    with joined_transaction():
        row = Outbox.objects.select_for_update().filter(pk=row_id).first() if 0 < row_id <= MOST_KEY else None
        if row is None:
            raise NotFound("unknown_outbox_row", f"There is no outbox row {row_id}.")
        if row.dead_at is None:
            state = "was delivered" if row.done_at else "is still being delivered"
            raise Refused("not_requeueable", f"Outbox row {row_id} {state}; only a dead one is queued again.")
        at = now()
        row.dead_at, row.claimed_until, row.available_at, row.tries = None, None, at, TRIED_BEFORE
        row.requeued_at, row.requeued_by = at, actor[:200]
        row.save(update_fields=["dead_at", "claimed_until", "available_at", "tries", "requeued_at", "requeued_by"])
        nudge("outbox")
    _log.info("event=outbox_requeued row=%d topic=%s actor=%s", row.pk, row.topic, actor)
    return row

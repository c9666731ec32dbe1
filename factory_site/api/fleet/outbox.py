"""Routes of the outbox."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # pydantic reads the annotations
from typing import Any

from django.http import HttpRequest  # noqa: TC002  # ninja reads the annotations
from ninja import Router

from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.shapes import Wire
from runs.models import Role
from runs.outbox.requeue import outbox_requeue

router = Router(by_alias=True)


class Requeued(Wire):
    """A row of the outbox that is delivered again."""

    id: int
    topic: str
    key: str
    available_at: datetime
    requeued_by: str


@router.post("/{row_id}/requeue", response=responses({200: Requeued}, 403, 404, 409))
def outbox_requeue_post(request: HttpRequest, row_id: int) -> dict[str, Any]:
    """Deliver a dead row again."""
    caller = needs(request, Role.OPERATOR, "Queueing an outbox row again")
    row = outbox_requeue(row_id=row_id, actor=caller.actor)
    return {
        "id": row.pk,
        "topic": row.topic,
        "key": row.key,
        "availableAt": row.available_at,
        "requeuedBy": row.requeued_by,
    }

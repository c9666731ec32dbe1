"""Dead deliveries: a person has one delivered again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.doors import actor, require, signed_in
from factory_site.console.submissions import Done, submit_once
from runs.models.user import Role
from runs.outbox.requeue import outbox_requeue

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@signed_in("POST")
def requeue(request: HttpRequest, row_id: int) -> HttpResponse:
    """Deliver the row again; a row that is not dead any more says so on a page of its own."""
    require(request, Role.OPERATOR, "Queueing an outbox row again")

    def act() -> Done:
        row = outbox_requeue(row_id=row_id, actor=actor(request))
        return Done("/doctor/", f"{row.key} is delivered again.")

    return submit_once(request, act)

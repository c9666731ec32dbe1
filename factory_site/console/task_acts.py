"""What a person does with a question beside answering it: take it, snooze it, take its answer back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from factory_site.console.doors import actor, problem, require, signed_in
from factory_site.console.submissions import Done, submit_once
from factory_site.console.tasks import SNOOZES, task_shown
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Invalid
from runs.humans.attention import task_snooze, task_take
from runs.humans.selectors import task_find
from runs.humans.tasks import task_revert
from runs.models.user import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

MARGIN = timedelta(minutes=1)  # so that the longest choice is still within the bound when it is sent


@signed_in("POST")
def take(request: HttpRequest, task_id: int) -> HttpResponse:
    """Tell the others that one is on it, or that nobody is."""
    require(request, Role.OPERATOR, "Taking a task")
    back = request.POST.get("back") == "yes"

    def act() -> Done:
        task_take(task_id=task_id, actor=actor(request), back=back)
        told = "You gave it back." if back else "Others see for 30 minutes that you are on it."
        return Done(f"/tasks/{task_id}/", told)

    return _acted(request, task_id, act)


@signed_in("POST")
def snooze(request: HttpRequest, task_id: int) -> HttpResponse:
    """Pause the reminders for one of the offered times."""
    require(request, Role.OPERATOR, "Snoozing a task")

    def act() -> Done:
        hours = request.POST.get("hours", "")
        if hours not in SNOOZES:
            raise Invalid("invalid_field", "Choose for how long it may wait.", details={"field": "hours"})
        until = clock_now() + timedelta(hours=int(hours)) - MARGIN
        task_snooze(task_id=task_id, actor=actor(request), until=until, note=request.POST.get("note", ""))
        return Done(f"/tasks/{task_id}/", f"No reminder for {SNOOZES[hours]}. It stays listed and its due date stands.")

    return _acted(request, task_id, act)


@signed_in("POST")
def revert(request: HttpRequest, task_id: int) -> HttpResponse:
    """Take the answer back."""
    require(request, Role.OPERATOR, "Taking an answer back")

    def act() -> Done:
        task_revert(task_id=task_id, actor=actor(request), note=request.POST.get("note", ""))
        told = "The answer is taken back. If its turn is not over, the question is asked anew."
        return Done(f"/tasks/{task_id}/", told)

    return _acted(request, task_id, act)


def _acted(request: HttpRequest, task_id: int, act: Callable[[], Done]) -> HttpResponse:
    """Answer the act; a refusal shows the page as it is now."""
    task = task_find(task_id)
    try:
        return submit_once(request, act)
    except FactoryError as error:
        task.refresh_from_db()
        return task_shown(request, task, problem(error))

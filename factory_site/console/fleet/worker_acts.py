"""What a person does to a worker from its page: let it leave, or take its run back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.acting import label_typed, reason_given
from factory_site.console.doors import actor, problem, require, signed_in
from factory_site.console.fleet.workers import worker_page
from factory_site.console.submissions import Done, submit_once
from runs.contract.errors import FactoryError
from runs.models.user import Role
from workers.services.drain import worker_drain
from workers.services.release import worker_release

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@signed_in("POST")
def release(request: HttpRequest, worker_id: str) -> HttpResponse:
    """Take back the run that the page showed; from a worker that is heard of when its id was typed out."""
    require(request, Role.OPERATOR, "Releasing a run")

    def act() -> Done:
        reason = reason_given(request)
        run = worker_release(
            worker_id=worker_id,
            run_id=request.POST.get("seen", "")[:40],
            actor=actor(request),
            force=label_typed(request, worker_id),
            reason=reason,
        )
        return Done(f"/runs/{run.run_id}/", f"Run taken back from {worker_id}. It is queued again after a pause.")

    try:
        return submit_once(request, act)
    except FactoryError as error:
        return worker_page(request, worker_id, problem(error), "release")


@signed_in("POST")
def drain(request: HttpRequest, worker_id: str) -> HttpResponse:
    """Ask it to leave once its run has ended; a form that says `back` lets it stay."""
    require(request, Role.OPERATOR, "Draining a worker")
    back = request.POST.get("back") == "1"

    def act() -> Done:
        reason = "" if back else reason_given(request)
        worker_drain(worker_id=worker_id, actor=actor(request), reason=reason, back=back)
        told = "It stays." if back else "It takes no more runs, and leaves once its run has ended."
        return Done(f"/workers/{worker_id}/", told)

    try:
        return submit_once(request, act)
    except FactoryError as error:
        return worker_page(request, worker_id, problem(error), "drain")

"""What a person does to a run from its page: cancel, retry, extend; each once, for a reason, to what was on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factory_site.console.acting import label_typed, reason_given
from factory_site.console.doors import actor, problem, require, signed_in
from factory_site.console.fleet.run import run_page
from factory_site.console.selectors.run import label_of
from factory_site.console.submissions import Done, submit_once
from factory_site.console.wording.reasons import reason_of
from runs.contract.errors import FactoryError, Refused
from runs.contract.numbers import whole_number
from runs.flow import RUN_MACHINE
from runs.models.user import Role
from runs.queue.cancel import run_cancel
from runs.queue.operating.extend import run_extend
from runs.queue.operating.retry import run_retry
from runs.reading.detail import run_find

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from runs.models import Run


@signed_in("POST")
def cancel(request: HttpRequest, run_id: str) -> HttpResponse:
    """End the attempt that the page showed."""
    require(request, Role.OPERATOR, "Cancelling a run")

    def act(run: Run, reason: str) -> str:
        if run.is_at_rest:
            raise Refused("run_at_rest", f"{_ended(run)} Nothing was changed.")
        _check_seen(request, run, "cancelled")
        run_cancel(run=run, code="operator_cancel", actor=actor(request), reason=reason)
        return "Run cancelled. Its worker stops the agent within 2 s."

    return _acted(request, run_id, "cancel", act)


@signed_in("POST")
def retry(request: HttpRequest, run_id: str) -> HttpResponse:
    """Queue the failed run again; beyond its agent's tries when its subject was typed out."""
    require(request, Role.OPERATOR, "Retrying a run")

    def act(run: Run, reason: str) -> str:
        _check_seen(request, run, "retried")
        run_retry(run=run, actor=actor(request), force=label_typed(request, label_of(run)), reason=reason)
        return "Run queued again. It keeps its place in the line."

    return _acted(request, run_id, "retry", act)


@signed_in("POST")
def extend(request: HttpRequest, run_id: str) -> HttpResponse:
    """Give the agent of the attempt that the page showed more time; beyond the limit when its subject was typed out."""
    require(request, Role.OPERATOR, "Extending a run")

    def act(run: Run, reason: str) -> str:
        _check_seen(request, run, "extended")
        typed = request.POST.get("seconds", "").strip()
        number = whole_number(typed)
        attempt = run_extend(
            run=run,
            seconds=typed if number is None else number,
            actor=actor(request),
            override=label_typed(request, label_of(run)),
            reason=reason,
        )
        agent, result = attempt.agent_deadline_at or attempt.deadline_at, attempt.deadline_at
        return f"Run extended. Its agent has until {agent:%H:%M:%S} UTC, its result until {result:%H:%M:%S} UTC."

    return _acted(request, run_id, "extend", act)


def _acted(request: HttpRequest, run_id: str, verb: str, act: Callable[[Run, str], str]) -> HttpResponse:
    """Answer the act; a refusal shows the page as the run is now, with what the person typed."""
    run = run_find(run_id)

    def once() -> Done:
        return Done(f"/runs/{run.run_id}/", act(run, reason_given(request)))

    try:
        return submit_once(request, once)
    except FactoryError as error:
        return run_page(request, run_find(run_id), problem(error), verb)


def _check_seen(request: HttpRequest, run: Run, done: str) -> None:
    if request.POST.get("seen") != str(run.attempt_number):
        raise Refused("stale", f"The run is at attempt {run.attempt_number} by now. Nothing was {done}.")


def _ended(run: Run) -> str:
    return f"Already {RUN_MACHINE.states[run.state].word.lower()}: {reason_of(run.reason_code).sentence}."

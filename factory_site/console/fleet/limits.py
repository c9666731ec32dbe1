"""Pauses and limits: what keeps runs from being claimed, who said so, and the forms that change it."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from factory_site.console.acting import label_typed, reason_given
from factory_site.console.doors import actor, person, problem, require, show, signed_in
from factory_site.console.selectors.limits import limits_shown
from factory_site.console.submissions import Done, new_submission, submit_once
from runs.contract.errors import FactoryError, Invalid, Refused
from runs.contract.numbers import whole_number
from runs.models import Role, SpendScope
from runs.queue.limits.balance import Amount, micro_usd_typed
from runs.queue.limits.pauses import pause_lift, pause_set
from runs.queue.limits.raises import budget_raise
from runs.queue.limits.sentences import pause_name
from runs.reading.limits import budget_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from factory_site.console.doors import Problem

HERE = "/pauses/"


@signed_in("GET", "POST")
def pauses(request: HttpRequest) -> HttpResponse:
    """What is paused and limited; a form that is sent pauses claims."""
    if request.method != "POST":
        return _page(request)
    require(request, Role.OPERATOR, "Pausing claims")

    def pause() -> str:
        row = pause_set(
            scope=request.POST.get("scope", ""),
            key=request.POST.get("key", ""),
            reason=reason_given(request),
            actor=actor(request),
            until=_until(request.POST.get("until", "").strip()),
        )
        return f"Claims are paused for {pause_name(row)}. What runs, runs on."

    return _acted(request, "pause", pause)


@signed_in("POST")
def lift(request: HttpRequest, pause_id: int) -> HttpResponse:
    """Lift a pause."""
    require(request, Role.OPERATOR, "Lifting a pause")

    def act() -> str:
        row = pause_lift(pause_id=pause_id, actor=actor(request))
        return f"The pause of {pause_name(row)} is lifted. Waiting workers were woken."

    return _acted(request, "lift", act)


@signed_in()
def budgets(request: HttpRequest) -> HttpResponse:
    """The same page, at the address of the budgets."""
    return _page(request)


@signed_in("POST")
def raised(request: HttpRequest) -> HttpResponse:
    """Add to the limit that the page showed, when its subject was typed out."""
    require(request, Role.OPERATOR, "Raising a budget")

    def act() -> str:
        scope = SpendScope(request.POST.get("scope", "")) if request.POST.get("scope") in SpendScope.values else None
        if scope is None:
            raise Invalid("invalid_field", "This form is incomplete. Load the page again.", details={"field": "scope"})
        reason = reason_given(request)
        row = budget_row(scope, request.POST.get("key", ""))
        if request.POST.get("seen") != row.seen:
            raise Refused("stale", "The limit is another one by now. Nothing was raised; look at it again.")
        if not label_typed(request, row.label):
            raise Invalid("invalid_field", f"Type {row.label} to confirm.", details={"field": "confirm"})
        added = Amount(_micro(request.POST.get("usd", "")), _tokens(request.POST.get("tokens", "")))
        budget_raise(scope=scope, key=row.key, added=added, reason=reason, actor=actor(request))
        return f"The budget of {row.words} is raised. What waited for it goes on."

    return _acted(request, f"raise:{request.POST.get('scope')}:{request.POST.get('key')}", act)


def _acted(request: HttpRequest, form: str, act: Callable[[], str]) -> HttpResponse:
    """Answer the act; a refusal shows the page as it is now, with what the person typed in the form that was sent."""
    try:
        return submit_once(request, lambda: Done(HERE, act()))
    except FactoryError as error:
        return _page(request, problem(error), form)


def _page(request: HttpRequest, refused: Problem | None = None, form: str = "") -> HttpResponse:
    found = limits_shown()
    wanted = form or request.GET.get("raise", "")
    context: dict[str, Any] = {
        "here": "workers",
        "found": found,
        "raising": next((row for row in found.page.budgets if row.form == wanted and row.balance.limit), None)
        if person(request).may(Role.OPERATOR)
        else None,
        "refused": refused,
        "acted": form,
        "form": request.POST if refused else {},
        "new_submission": new_submission,
    }
    return show(request, "fleet/limits.html", context, None, refused.status if refused else HTTPStatus.OK)


def _until(text: str) -> datetime | None:
    """The instant that a person chose, in the zone in which the page shows instants."""
    if not text:
        return None
    try:
        chosen = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(
            "invalid_field", f"Until is a date and a time; you typed {text[:40]}.", details={"field": "until"}
        ) from None
    return timezone.make_aware(chosen) if chosen.tzinfo is None else chosen


def _micro(text: str) -> int:
    micro = micro_usd_typed(text)
    if micro is None:
        sentence = f"Dollars are a number such as 25 or 2.50; you typed {text.strip()[:40]}."
        raise Invalid("invalid_field", sentence, details={"field": "usd"})
    return micro


def _tokens(text: str) -> int:
    text = text.strip()
    number = whole_number(text) if text else 0
    if number is None:
        raise Invalid(
            "invalid_field", f"Tokens are a whole number; you typed {text[:40]}.", details={"field": "tokens"}
        )
    return number

"""Routes of pauses and budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from django.http import HttpRequest, HttpResponse  # noqa: TC002  # ninja reads the annotations
from ninja import Query, Router
from pydantic import AwareDatetime, Field

from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.fleet.limit_answers import Budgets, PauseList, PauseRow, RaiseRow
from factory_site.api.lists import Body, Page, conditional, window
from factory_site.shell.limit_lines import pause_json
from runs.models import Pause, Role
from runs.queue.limits.balance import MICRO, Amount
from runs.queue.limits.pauses import pause_lift, pause_set, pauses_in_force
from runs.queue.limits.raises import budget_raise
from runs.reading.limits import BudgetRow, CapRow, amount_json, limits_page

if TYPE_CHECKING:
    from collections.abc import Sequence

pauses = Router(by_alias=True)
budgets = Router(by_alias=True)


class PauseFilter(Page):
    """Which pauses; ``inForce`` leaves out those that are over."""

    in_force: bool = Field(default=False, alias="inForce")


class NewPause(Body):
    """What to pause, why, and until when."""

    scope: Literal["global", "repository", "agent"]
    key: str = Field("", max_length=200)
    reason: str = Field("", max_length=500)
    until: AwareDatetime | None = None


class Lift(Body):
    """Why."""

    reason: str = Field("", max_length=500)


class Raise(Body):
    """Which limit, what is added to it, and why."""

    scope: Literal["day", "subject", "run"]
    key: str = Field("", max_length=300)
    usd: float | None = Field(None, gt=0, le=1e9, allow_inf_nan=False)
    tokens: int | None = Field(None, gt=0, le=10**15)
    reason: str = Field("", max_length=500)


@pauses.get("", response=responses({200: PauseList}, 304))
def pause_list(request: HttpRequest, filters: Query[PauseFilter]) -> HttpResponse:
    """Pauses, newest first: those in force, and those that were."""
    rows = pauses_in_force().order_by() if filters.in_force else Pause.objects.all()
    return conditional(request, window(rows, filters, _pauses_json))


@pauses.post("", response=responses({200: PauseRow}, 400, 403, 409, 413))
def pause_post(request: HttpRequest, body: NewPause) -> dict[str, Any]:
    """Pause claims of everything, a repository or an agent; what runs, runs on."""
    caller = needs(request, Role.OPERATOR, "Pausing claims")
    row = pause_set(scope=body.scope, key=body.key, reason=body.reason, actor=caller.actor, until=body.until)
    return pause_json(row)


@pauses.post("/{pause_id}/lift", response=responses({200: PauseRow}, 403, 404, 409, 413))
def pause_lift_post(request: HttpRequest, pause_id: int, body: Lift | None = None) -> dict[str, Any]:
    """Lift a pause; waiting workers are woken."""
    caller = needs(request, Role.OPERATOR, "Lifting a pause")
    return pause_json(pause_lift(pause_id=pause_id, actor=caller.actor, reason=body.reason if body else ""))


@budgets.get("", response=responses({200: Budgets}, 304))
def budget_list(request: HttpRequest) -> HttpResponse:
    """Each limit with what was spent, is reserved and was raised, and what waits for it."""
    return conditional(request, budgets_json())


@budgets.post("/raise", response=responses({200: RaiseRow}, 400, 403, 404, 413))
def budget_raise_post(request: HttpRequest, body: Raise) -> dict[str, Any]:
    """Add to one limit; the runs that it holds go on."""
    caller = needs(request, Role.OPERATOR, "Raising a budget")
    added = Amount(round((body.usd or 0) * MICRO), body.tokens or 0)
    row = budget_raise(scope=body.scope, key=body.key, added=added, reason=body.reason, actor=caller.actor)
    return raise_json(row)


def budgets_json() -> dict[str, Any]:
    """The answer of the list of budgets, for the API and the command."""
    page = limits_page()
    return {"items": [_budget_json(row) for row in page.budgets], "caps": [_cap_json(row) for row in page.caps]}


def raise_json(row: Any) -> dict[str, Any]:
    """One raise on the wire."""
    return {
        "usd": row.cost_micro_usd / MICRO if row.cost_micro_usd else None,
        "tokens": row.tokens or None,
        "reason": row.reason,
        "by": row.actor,
        "at": row.at,
    }


def _pauses_json(rows: Sequence[Pause]) -> list[dict[str, Any]]:
    return [pause_json(row) for row in rows]


def _budget_json(row: BudgetRow) -> dict[str, Any]:
    balance = row.balance
    return {
        "scope": str(row.scope),
        "key": row.key,
        "label": row.label,
        "limit": amount_json(balance.limit),
        "spent": amount_json(balance.spent),
        "reserved": amount_json(balance.reserved),
        "raised": amount_json(balance.raised),
        "left": amount_json(balance.left),
        "percent": balance.percent,
        "reached": balance.is_reached,
        "held": row.held,
        "resetsAt": row.resets_at,
        "raises": [raise_json(each) for each in row.raises],
    }


def _cap_json(row: CapRow) -> dict[str, Any]:
    return {
        "code": str(row.code),
        "name": row.name,
        "node": row.node or None,
        "limit": row.limit,
        "used": row.used,
        "held": row.held,
    }

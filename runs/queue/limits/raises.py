"""Adding to one limit: the day's until its UTC day ends, a subject's or a run's for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F

from runs.clock import now
from runs.contract.errors import Invalid, NotFound
from runs.models import Attempt, BudgetRaise, Hold, Run, SpendScope
from runs.policy import policy
from runs.queue.limits.balance import Amount, Limit, limit_of
from runs.queue.limits.budgets import run_limit
from runs.queue.limits.pauses import MOST_REASON
from runs.queue.notices import control_changed, work_appeared
from runs.subjects import subject_reference
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

MOST_MICRO = 10**15  # µUSD of one raise: a thousand million dollars is a slip of the hand
MOST_TOKENS = 10**15


def budget_raise(*, scope: str, key: str = "", added: Amount, reason: str, actor: str) -> BudgetRaise:
    """Add to the limit, free the runs that it holds, and tell the agent that runs, all in one transaction.

    ``key``: nothing or today's date for the day, a subject's reference or label, a run's id. Raises Invalid
    (`invalid_field`, `reason_required`) for a wrong field and for a limit that is not set, NotFound `unknown_run`,
    `unknown_subject`. Locks the run.
    """
    reason = _checked(scope, added, reason.strip())
    with joined_transaction():
        at = now()
        limit, key, held = _limit(scope, key.strip(), at)
        _check_sides(scope, limit, added)
        row = BudgetRaise.objects.create(
            scope=scope,
            key=key,
            cost_micro_usd=added.micro_usd,
            tokens=added.tokens,
            reason=reason,
            actor=actor,
            at=at,
        )
        held.update(hold=Hold.NONE, hold_checked_at=None)
        if scope == SpendScope.RUN:
            _tell_attempt(key, added)
        work_appeared()
    return row


def _limit(scope: str, key: str, at: datetime) -> tuple[Limit, str, QuerySet[Run]]:
    """The limit as the files have it, its key, and the runs that it holds."""
    queued = Run.objects.filter(state="queued")
    budgets = policy().budgets
    if scope == SpendScope.DAY:
        today = at.date().isoformat()
        if key not in {"", today}:
            raise _wrong("key", f"only the budget of the day that runs now can be raised: {today} (UTC)")
        return limit_of(budgets.per_day), today, queued.none()
    if scope == SpendScope.SUBJECT:
        subject = subject_reference(key)
        if not key or not Run.objects.filter(subject=subject).exists():
            raise NotFound("unknown_subject", f"No run has the subject {key!r}; runs list names them.")
        return limit_of(budgets.per_subject), subject, queued.filter(subject=subject, hold=Hold.SUBJECT_BUDGET)
    run = Run.objects.select_for_update().filter(run_id=key).first()
    if run is None:
        raise NotFound("unknown_run", f"There is no run {key}.")
    return run_limit(run), key, queued.filter(pk=run.pk, hold=Hold.RUN_BUDGET)


def _tell_attempt(run_id: str, added: Amount) -> None:
    """The unfinished attempt may spend as much more; its held heartbeat brings the news."""
    told = Attempt.objects.filter(run__run_id=run_id, finished_at=None).update(
        budget_micro_usd=F("budget_micro_usd") + added.micro_usd,  # null stays null: that side has no limit
        budget_tokens=F("budget_tokens") + added.tokens,
        control_seq=F("control_seq") + 1,
    )
    if told:
        control_changed()


def _checked(scope: str, added: Amount, reason: str) -> str:
    if scope not in SpendScope.values:
        raise _wrong("scope", f"scope is one of {', '.join(SpendScope.values)}, not {scope!r}")
    if not 0 <= added.micro_usd <= MOST_MICRO:
        raise _wrong("usd", "usd is a number of dollars above 0 and at most a thousand million")
    if not 0 <= added.tokens <= MOST_TOKENS:
        raise _wrong("tokens", "tokens is a whole number above 0")
    if not added:
        raise _wrong("usd", "name what is added: usd, tokens or both, above 0")
    if not reason:
        raise Invalid("reason_required", "Say why: the reason stands beside the raise.", details={"field": "reason"})
    if len(reason) > MOST_REASON:
        raise _wrong("reason", f"reason has at most {MOST_REASON} characters")
    return reason


def _check_sides(scope: str, limit: Limit, added: Amount) -> None:
    names = {SpendScope.DAY: "perDay", SpendScope.SUBJECT: "perSubject", SpendScope.RUN: "perRun"}
    for field, has, more in (("usd", limit.micro_usd, added.micro_usd), ("tokens", limit.tokens, added.tokens)):
        if more and has is None:
            where = f"budgets.{names[SpendScope(scope)]} in policy.yaml"
            raise _wrong(field, f"there is no limit of {field} to add to; {where} sets none")


def _wrong(field: str, sentence: str) -> Invalid:
    return Invalid("invalid_field", f"{sentence}.", details={"field": field})

"""Telling a person that a budget runs out: once for each limit and day, and taking it back when it has room again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection

from runs.flow import AT_REST
from runs.humans.flow import TaskState
from runs.humans.tasks import TaskKind, task_ask, task_withdraw
from runs.models import HumanTask, Run, Spend, SpendScope
from runs.policy import policy
from runs.queue.limits.balance import Limit, limit_of
from runs.queue.limits.budgets import balances, run_limit
from runs.queue.limits.sentences import raise_command, used_words
from runs.queue.limits.standing import standing_now
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date, datetime

    from runs.queue.limits.balance import Balance
    from runs.queue.limits.budgets import Key

BATCH = 200
MARK_JUDGED = "UPDATE runs_spend SET is_judged = true WHERE id = %s AND cost_micro_usd = %s AND tokens = %s"
MOST_OPEN = 50  # warnings that are looked at again in one pass
KIND = TaskKind("budget_warning", "Budget runs out")
_log = logging.getLogger(__name__)


def warnings_given(at: datetime) -> int:
    """Judge what was charged since the last pass, and ask a person where a limit is nearly used; how many were asked.

    One transaction for each row that asks. Two passes at once ask once, by compare-and-set on the day's row.
    """
    rows = list(Spend.objects.filter(is_judged=False).order_by("id")[:BATCH])
    runs = Run.objects.filter(run_id__in=[row.key for row in rows if row.scope == SpendScope.RUN]).in_bulk(
        field_name="run_id"
    )
    found = _balances([(row.scope, row.key) for row in rows], runs, at)
    loud = [row for row in rows if row.warned_at is None and row.day == at.date() and _is_nearly_used(_of(found, row))]
    _all_judged([row for row in rows if row not in loud])
    return sum(_judged_safely(row, _of(found, row), runs, at) for row in loud)


def warnings_withdrawn(at: datetime) -> int:
    """Close the open warnings whose limit has room again, or whose day or run is over; how many."""
    tasks = list(HumanTask.objects.filter(kind=KIND.name, state=TaskState.OPEN).order_by("id")[:MOST_OPEN])
    limits = {task.pk: (str(task.refs["scope"]), str(task.refs["key"])) for task in tasks}
    runs = Run.objects.filter(run_id__in=[key for scope, key in limits.values() if scope == "run"]).in_bulk(
        field_name="run_id"
    )
    found = _balances(limits.values(), runs, at)
    closed = 0
    for task in tasks:
        scope, key = limits[task.pk]
        if scope == SpendScope.DAY and task.refs["day"] != at.date().isoformat():
            closed += task_withdraw(task, reason="its day is over", now=at)
        elif scope == SpendScope.RUN and (key not in runs or runs[key].state in AT_REST):
            closed += task_withdraw(task, reason="the run has ended", now=at)
        elif not _is_nearly_used(found.get((scope, key))):
            closed += task_withdraw(task, reason="the limit was raised or lifted", now=at)
    return closed


def _balances(keys: Iterable[Key], runs: Mapping[str, Run], at: datetime) -> dict[Key, Balance]:
    """The finite limits among these, with what is used of each; the day's under its blank key."""
    limits: dict[Key, Limit] = {}
    found: dict[Key, Balance] = {}
    budgets = policy().budgets
    for scope, key in set(keys):
        if scope == SpendScope.DAY:
            day = standing_now(at=at).day
            found |= {(scope, key): day} if day is not None else {}
        elif scope == SpendScope.SUBJECT:
            limits[(scope, key)] = limit_of(budgets.per_subject)
        elif key in runs:
            limits[(scope, key)] = run_limit(runs[key])
    return found | balances({key: limit for key, limit in limits.items() if limit})


def _of(found: Mapping[Key, Balance], row: Spend) -> Balance | None:
    return found.get((row.scope, row.key))


def _all_judged(rows: Sequence[Spend]) -> None:
    """Mark rows that ask nobody, each unless it was charged meanwhile; one transaction, for every run leaves three."""
    if not rows:
        return
    with joined_transaction(), connection.cursor() as cursor:
        cursor.executemany(MARK_JUDGED, [(row.pk, row.cost_micro_usd, row.tokens) for row in rows])


def _is_nearly_used(balance: Balance | None) -> bool:
    return balance is not None and bool(balance.limit) and balance.percent >= policy().budgets.warn_at_percent


def _judged_safely(row: Spend, balance: Balance | None, runs: Mapping[str, Run], at: datetime) -> bool:
    try:
        return _judged(row, balance, runs, at)
    except Exception:  # noqa: BLE001  # one bad row never stops the rest; the next charge has it judged again
        _log.exception("the budget of %s could not be judged", row)
        Spend.objects.filter(pk=row.pk).update(is_judged=True)
        return False


def _judged(row: Spend, balance: Balance | None, runs: Mapping[str, Run], at: datetime) -> bool:
    """Mark the row as judged unless it was charged meanwhile; whether a person was asked."""
    asked = False
    with joined_transaction():
        if row.warned_at is None and row.day == at.date() and _is_nearly_used(balance):
            asked = bool(Spend.objects.filter(pk=row.pk, warned_at=None).update(warned_at=at))
        if asked and balance is not None:
            _ask(row, balance, runs, at)
        Spend.objects.filter(pk=row.pk, cost_micro_usd=row.cost_micro_usd, tokens=row.tokens).update(is_judged=True)
    return asked


def _ask(row: Spend, balance: Balance, runs: Mapping[str, Run], at: datetime) -> None:
    scope = SpendScope(row.scope)
    subject, label = _subject(row, runs)
    command = raise_command(scope, row.key if scope == SpendScope.RUN else label)
    base = settings.FACTORY.base_url
    task_ask(
        kind=KIND.name,
        subject=subject,
        subject_label=label,
        question=f"{_name(scope, row.day, label)} is used to {balance.percent} %: {used_words(balance)}. Raise it?",
        context=(
            "At 100 % nothing new begins under this limit; what runs, runs on. Raise it below or with: "
            f"{command}. Or dismiss this, and let it run into its limit."
        ),
        form={
            "fields": [
                {"id": "raise", "kind": "link", "label": "Raise it", "value": f"{base}/budgets/"},
                {"id": "pause", "kind": "link", "label": "Pause claims", "value": f"{base}/pauses/"},
                {
                    "id": "decision",
                    "kind": "choice",
                    "label": "Decision",
                    "required": True,
                    "choices": [{"id": "dismiss", "label": "Dismiss: seen"}],
                },
            ]
        },
        refs={"scope": str(scope), "key": row.key, "day": row.day.isoformat()},
        fingerprint=f"{scope}:{row.key}:{row.day}",
        now=at,
    )


def _subject(row: Spend, runs: Mapping[str, Run]) -> tuple[str, str]:
    """What the question is about, as reference and label."""
    if row.scope == SpendScope.DAY:
        return f"day:{row.day}", f"{row.day} (UTC)"
    run = runs.get(row.key) or Run.objects.filter(subject=row.key).order_by("-id").first()
    if run is None:
        return row.key, row.key
    return run.subject, run.subject_label or run.subject


def _name(scope: SpendScope, day: date, label: str) -> str:
    if scope == SpendScope.DAY:
        return f"The budget of {day} (UTC)"
    return f"The budget of {label}" if scope == SpendScope.SUBJECT else f"The budget of a run on {label}"

"""Removing runs at rest as wholes: journal, attempts, result, receipt, usage and trace go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from runs.clock import now
from runs.flows.registry import flow_types
from runs.models import RemovedRun, Run, Spend, SpendScope
from runs.models.run import RESTING_RUNS
from runs.retention.ages import first_key_since
from runs.retention.rules import BATCH
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from django.db.models import QuerySet

ROWS_OF_A_RUN = 6  # itself, its specification, what remembers it, result, receipt, spend
ROWS_OF_AN_ATTEMPT = 8  # itself, usage, and some objects with their grants
LOOKED_AT = 200  # runs of one query


class WholeRuns:
    """Runs at rest whose flow has ended, too. Traces have a rule of their own, which ends earlier."""

    def count(self, before: datetime) -> int:
        """How many runs would go; the rows that belong to them are not counted."""
        return runs_over(before).count()

    def remove_some(self, before: datetime) -> int:
        """Remove so many runs that some 500 rows go with them; return how many runs went."""
        chosen = list(_within_a_batch(runs_over(before)[:LOOKED_AT]))
        if not chosen:
            return 0
        with write_transaction():
            locked = runs_over(before).filter(pk__in=chosen).select_for_update()  # whoever comes second finds none
            return _removed(list(locked))


def runs_over(before: datetime) -> QuerySet[Run]:
    """Runs that came to rest before, and whose flow, if they are a step of one, does not move any more."""
    rows = Run.objects.filter(RESTING_RUNS, pk__lt=first_key_since(Run, "created_at", before), ended_at__lt=before)
    for flow in flow_types():
        active = flow.model.objects.filter(subject=OuterRef("flow_subject"), ended_at__isnull=True)
        rows = rows.exclude(Q(Exists(active), flow_type=flow.name))
    return rows.order_by("pk")


def _within_a_batch(runs: Iterable[Run]) -> Iterable[int]:
    """Keys of the first runs that together have at most 500 rows, at least one."""
    rows = 0
    for run in runs:
        own = ROWS_OF_A_RUN + run.journal_seq + run.attempt_number * ROWS_OF_AN_ATTEMPT
        if rows and rows + own > BATCH:
            return
        rows += own
        yield run.pk


def _removed(runs: list[Run]) -> int:
    """Remove these locked runs in the caller's transaction, and keep their names; return how many."""
    at = now()
    RemovedRun.objects.bulk_create(
        RemovedRun(
            run_id=run.run_id,
            idempotency_key=run.idempotency_key,
            state=run.state,
            ended_at=run.ended_at or at,
            removed_at=at,
        )
        for run in runs
    )
    Spend.objects.filter(scope=SpendScope.RUN, key__in=[run.run_id for run in runs]).delete()
    Run.objects.filter(pk__in=[run.pk for run in runs]).delete()
    return len(runs)

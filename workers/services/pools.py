"""Keeping what supervisors report of their pools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from runs.clock import now
from runs.transactions import joined_transaction, write_transaction
from workers.models import Pool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

FORGOTTEN_AFTER = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class PoolReport:
    """What a supervisor says, with the counts that it is answered. ``min`` and ``max`` are those in force."""

    node: str
    name: str
    host: str
    version: str
    min: int
    max: int
    offer: dict[str, Any]
    counts: dict[str, int]
    action: str
    reason: str
    stopping: bool
    crashes: int = 0
    last_line: str = ""
    unkillable: Sequence[int] = ()


def pool_report(report: PoolReport) -> None:
    """Keep the report as the pool's row; the last one of a supervisor that ends in order removes it.

    One transaction; the row is locked. The same report again renews ``seen_at`` alone.
    """
    with write_transaction():
        rows = Pool.objects.select_for_update().filter(node=report.node, name=report.name)
        if report.stopping and report.counts["workers"] == 0:
            rows.delete()
            return
        at = now()
        row = rows.first() or Pool(node=report.node, name=report.name)
        _write(row, report, at)
        row.save()


def pools_forget(*, limit: int = 500) -> int:
    """Remove rows that no supervisor renewed for seven days, at most ``limit``; how many."""
    old = Pool.objects.filter(seen_at__lt=now() - FORGOTTEN_AFTER).order_by("pk")
    keys = list(old.values_list("pk", flat=True)[:limit])
    with joined_transaction():
        return Pool.objects.filter(pk__in=keys).delete()[0]


def _write(row: Pool, report: PoolReport, at: datetime) -> None:
    if (row.action, row.reason) != (report.action, report.reason):  # a new row has neither
        row.decided_at = at
    counts = report.counts
    row.short_since = _since(row.short_since, at, holds=counts["workers"] < report.min and not report.stopping)
    row.stuck_since = _since(row.stuck_since, at, holds=counts["claimable"] > 0 and counts["idle"] > 0)
    row.host, row.version = report.host, report.version
    row.min, row.max = report.min, report.max
    row.offer, row.counts = report.offer, dict(counts)
    row.action, row.reason = report.action, report.reason
    row.crashes, row.last_line = report.crashes, report.last_line
    row.unkillable = list(report.unkillable)
    row.stopping = report.stopping
    row.seen_at = at


def _since(began: datetime | None, at: datetime, *, holds: bool) -> datetime | None:
    """Since when a condition holds, given since when it held at the last report."""
    return (began or at) if holds else None

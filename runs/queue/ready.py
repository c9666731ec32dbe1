"""The statements of the claim, as text: each repeats the condition of its partial index literally.

A bound parameter would keep SQLite from using a partial index on the first plan, so states and holds stand here as
literals. SQLite is told the index by name as well: it has no statistics until somebody asks for them, and then takes
an index of the state alone, whose cost grows with the queue. `tests/db/queue/test_plans.py` explains each statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection

from runs.models import PlacementClass
from runs.rows.direct import changed_by, rows_of

if TYPE_CHECKING:
    from datetime import datetime

DUE_BATCH = 50
MOST_CLASSES = 1000  # kept in a process; more of them are read anew


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement on runs, or on another table, and the index that serves it."""

    index: str
    text: str
    table: str = "runs_run"

    def sql(self) -> str:
        """The text for the database in use; SQLite is told the index."""
        if connection.vendor != "sqlite":
            return self.text
        return self.text.replace(self.table, f"{self.table} INDEXED BY {self.index}")


READY_CLASSES = Statement(
    "run_ready",
    """
WITH RECURSIVE ready(class_id) AS (
  SELECT min(placement_class_id) FROM runs_run WHERE state = 'queued' AND hold = ''
  UNION ALL
  SELECT (SELECT min(placement_class_id) FROM runs_run
          WHERE state = 'queued' AND hold = '' AND placement_class_id > ready.class_id)
  FROM ready WHERE ready.class_id IS NOT NULL
)
SELECT c.id, c.key_hash FROM ready JOIN runs_placementclass c ON c.id = ready.class_id
""",
)
HEAD = Statement(
    "run_ready",
    """
SELECT id, rank_at FROM runs_run
WHERE state = 'queued' AND hold = '' AND placement_class_id = %s
ORDER BY rank_at, id LIMIT 1
""",
)
COUNT = Statement(
    "run_ready",
    """
SELECT count(*) FROM (SELECT 1 FROM runs_run
WHERE state = 'queued' AND hold = '' AND placement_class_id = %s LIMIT %s) AS counted
""",
)
DUE = Statement(
    "run_backoff",
    """
SELECT id, placement_class_id FROM runs_run
WHERE state = 'queued' AND hold = 'backoff' AND available_at <= %s
ORDER BY available_at LIMIT %s
""",
)
RELEASE_DUE = """
UPDATE runs_run SET hold = '', available_at = NULL, hold_checked_at = NULL
WHERE id = %s AND state = 'queued' AND hold = 'backoff' AND available_at <= %s
"""
KEY_WAITERS = Statement(
    "run_exclusive",
    """
UPDATE runs_run SET hold = '', hold_checked_at = NULL
WHERE state = 'queued' AND hold = 'exclusive' AND exclusive_key = %s
""",
)
KEY_HOLDER = Statement(
    "attempt_open_per_key",
    """
SELECT 1 FROM runs_attempt
WHERE exclusive_key = %s AND finished_at IS NULL AND NOT (exclusive_key = '')
""",
    table="runs_attempt",
)
HELD_OLDEST = Statement(
    "run_held",
    """
SELECT id FROM runs_run
WHERE state = 'queued' AND NOT (hold = '') AND hold_checked_at <= %s
ORDER BY hold_checked_at LIMIT %s
""",
)


@dataclass(frozen=True, slots=True)
class Head:
    """The run that is first in its class."""

    run_pk: int
    rank_at: datetime
    placement_class: PlacementClass

    @property
    def order(self) -> tuple[Any, int]:
        """Where it stands among the heads of all classes: rank, then age."""
        return (self.rank_at, self.run_pk)


_classes: dict[tuple[int, str], PlacementClass] = {}


def ready_classes() -> list[PlacementClass]:
    """The classes that have ready runs, one index seek each; a class is immutable and read once a process."""
    return [_class(pk, key_hash) for pk, key_hash in rows_of(READY_CLASSES.sql())]


def due_classes(at: datetime) -> dict[PlacementClass, int]:
    """The classes of the first due retries, with how many of those each has; nothing is released."""
    found = [class_pk for _, class_pk in rows_of(DUE.sql(), [at, DUE_BATCH])]
    return {row: found.count(row.pk) for row in PlacementClass.objects.filter(pk__in=found)} if found else {}


def head_of(row: PlacementClass, *, lock: bool) -> Head | None:
    """The first ready run of the class; with ``lock``, on PostgreSQL, the first that no other claim has locked."""
    skip = " FOR UPDATE SKIP LOCKED" if lock and connection.vendor == "postgresql" else ""
    found = rows_of(HEAD.sql() + skip, [row.pk])
    return Head(found[0][0], found[0][1], row) if found else None


def ready_count(row: PlacementClass, limit: int) -> int:
    """How many ready runs the class has, counted up to the limit."""
    return int(rows_of(COUNT.sql(), [row.pk, limit])[0][0])


def due_released(at: datetime) -> int:
    """Release due retries, at most a batch; how many. A row that another transaction released is left out."""
    return sum(changed_by(RELEASE_DUE, [pk, at]) for pk, _ in rows_of(DUE.sql(), [at, DUE_BATCH]))


def key_taken(exclusive_key: str) -> bool:
    """Whether an unfinished attempt has this exclusive key; a run without one waits for nobody."""
    return bool(exclusive_key and rows_of(KEY_HOLDER.sql(), [exclusive_key]))


def key_released(exclusive_key: str) -> int:
    """Make the queued runs that wait for this exclusive key ready; how many."""
    if not exclusive_key:
        return 0
    return changed_by(KEY_WAITERS.sql(), [exclusive_key])


def held_oldest(before: datetime, limit: int) -> list[int]:
    """Keys of the held runs whose hold was looked at longest ago, and not after ``before``."""
    return [pk for (pk,) in rows_of(HELD_OLDEST.sql(), [before, limit])]


def _class(pk: int, key_hash: str) -> PlacementClass:
    known = _classes.get((pk, key_hash))
    if known is None:
        if len(_classes) >= MOST_CLASSES:
            _classes.clear()
        known = _classes.setdefault((pk, key_hash), PlacementClass.objects.get(pk=pk))
    return known

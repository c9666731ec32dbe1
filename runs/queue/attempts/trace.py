"""The live trace: stored once a row, bounded, redacted once more; it never delays or fails a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import canonical_bytes
from runs.contract.instants import parse_instant
from runs.contract.redactor import Redactor
from runs.contract.wire import TRACE_KINDS
from runs.models import TraceRow
from runs.queue.attempts.fence import Held, Presented, attempt_write
from runs.queue.attempts.heartbeat import attempt_renewed
from runs.rows import row_new, row_save, rows_insert
from runs.rows.direct import row_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from runs.models import Attempt

LARGEST_PAYLOAD = 16 * 1024  # bytes, canonical
PREVIEW = 4096  # characters of a payload that is too large
MOST_ROWS = 2000  # of an attempt, beside lifecycle rows
MOST_LIFECYCLE_ROWS = 200  # kept after the others are full
STORED = """
SELECT coalesce(max(seq), 0), count(*), count(CASE WHEN kind = 'lifecycle' THEN 1 END)
FROM runs_tracerow WHERE attempt_id = %s
"""


@dataclass(frozen=True, slots=True)
class TraceAnswer:
    """The next seq that is wanted, and whether further rows would be dropped."""

    next_seq: int
    full: bool


def trace_append(presented: Presented, rows: Sequence[Mapping[str, Any]]) -> TraceAnswer:
    """Store the rows that are not there yet; rows beyond the bounds are dropped. Raises what `attempt_write` raises."""
    return attempt_write(presented, "trace", lambda held: _append(held, rows))


def _append(held: Held, rows: Sequence[Mapping[str, Any]]) -> TraceAnswer:
    answer = trace_store(held, rows)
    attempt_renewed(held)
    row_save(held.attempt)
    return answer


def trace_store(held: Held, rows: Sequence[Mapping[str, Any]]) -> TraceAnswer:
    """Store the rows that are not there yet, in the transaction that holds the attempt."""
    attempt = held.attempt
    highest, count, lifecycle = _stored(attempt)
    ordered = sorted(rows, key=lambda each: each["seq"])
    repeated = bool(ordered) and ordered[0]["seq"] <= highest
    known = _known(attempt, [row["seq"] for row in ordered]) if repeated else set()
    fresh: dict[int, TraceRow] = {}
    for row in ordered:
        if row["seq"] in known or row["seq"] in fresh or row["kind"] not in TRACE_KINDS:
            continue
        if row["kind"] == "lifecycle":
            lifecycle += 1
            if lifecycle > MOST_LIFECYCLE_ROWS and count >= MOST_ROWS:
                continue
        elif count > MOST_ROWS:
            continue
        else:
            count += 1
        full = row["kind"] != "lifecycle" and count > MOST_ROWS
        fresh[row["seq"]] = _row(attempt.pk, row, full=full)
    if fresh:
        rows_insert(list(fresh.values()))
    return TraceAnswer(next_seq=max(highest, *fresh, 0) + 1, full=count > MOST_ROWS)


def _stored(attempt: Attempt) -> tuple[int, int, int]:
    """The highest seq that is stored, how many rows beside lifecycle rows, and how many of those."""
    highest, total, lifecycle = row_of(STORED, [attempt.pk]) or (0, 0, 0)
    return highest, total - lifecycle, lifecycle


def _known(attempt: Attempt, numbers: Sequence[int]) -> set[int]:
    return set(TraceRow.objects.filter(attempt=attempt, seq__in=numbers).values_list("seq", flat=True))


def _row(attempt_pk: int, row: Mapping[str, Any], *, full: bool) -> TraceRow:
    at: datetime = parse_instant(row["at"])
    if full:
        return row_new(
            TraceRow, attempt_id=attempt_pk, seq=row["seq"], at=at, kind="trace_truncated", payload_json="{}"
        )
    payload = canonical_bytes(Redactor().redact_document(row["payload"]))
    if len(payload) > LARGEST_PAYLOAD:
        preview = payload.decode()[:PREVIEW]
        payload = canonical_bytes({"truncated": True, "preview": preview, "originalBytes": len(payload)})
    return row_new(
        TraceRow, attempt_id=attempt_pk, seq=row["seq"], at=at, kind=row["kind"], payload_json=payload.decode()
    )

"""The one place that writes a run's state, and the chained journal that says why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import canonical_bytes
from runs.contract.errors import Refused
from runs.contract.receipt import record_hash
from runs.flow import AT_REST, RUN_MACHINE, RunState
from runs.models import Attempt, JournalKind, JournalRow, Run
from runs.rows import row_insert, row_new, row_update, rows_insert

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

GATES = frozenset({"edge", "schedule", "route", "workflow"})  # actors that stand for a gate of automation


class TransitionRefused(Refused):
    """Somebody else moved the run, or the table has no such edge: re-read it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One journal row to write: who, why, when, and the attempt that it is about."""

    actor: str
    reason: str
    at: datetime
    attempt: Attempt | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


def actor_kind(actor: str) -> str:
    """The word of the machine's table for an actor such as ``worker:<id>`` or ``edge:<id>``."""
    word = actor.partition(":")[0]
    return "gate" if word in GATES else word


class Walk:
    """Edges that a run takes at one instant, written together: one UPDATE, and one INSERT of all their rows.

    The loaded run is at the end of the walk at once; ``write`` brings the database after it. Belongs inside a
    transaction.
    """

    def __init__(self, run: Run) -> None:
        """``run`` is as it is stored, or new."""
        self._run = run
        self._is_new = not run.pk
        self._from = {"id": run.pk, "state": run.state, "journal_seq": run.journal_seq}
        self._written: dict[str, Any] = {}
        self._before: dict[str, Any] = {}
        self._rows: list[JournalRow] = []

    def take(self, edge_name: str, step: Step, **columns: Any) -> None:
        """Take one edge, with its journal row and further ``columns``. Raises TransitionRefused, and takes nothing."""
        run, edge = self._run, RUN_MACHINE.edge(edge_name)
        source = "" if self._is_new and not self._rows else run.state
        fits = source in edge.sources if edge.sources else not source
        if not fits or actor_kind(step.actor) not in edge.actors:
            raise TransitionRefused(
                "transition_refused",
                f"{run.run_id} is {source or 'new'}; {step.actor} cannot {edge_name} it",
                details={"runId": run.run_id, "state": source, "edge": edge_name},
            )
        row = _next_row(run, step, kind=JournalKind.TRANSITION, edge=edge.name, moved=(source, str(edge.target)))
        written = {
            **_columns_of_state(source, edge.target, step.at),
            **columns,
            "state": str(edge.target),
            "reason_code": step.reason,
        }
        self._add(row, written)

    def note(self, kind: JournalKind, step: Step, **columns: Any) -> None:
        """Add a row that moves nothing (a fenced write, an extension), and ``columns`` with it."""
        self._add(_next_row(self._run, step, kind=kind, edge="", moved=("", "")), columns)

    def write(self) -> None:
        """Write what was taken, once, if anything was; a new run is inserted.

        Compare-and-set on (id, state, length of the journal): the row needs no lock, though callers that decide from
        other columns hold one. Raises TransitionRefused; then nothing is written, and the loaded run is as it was.
        """
        if not self._rows:
            return
        run = self._run
        if self._is_new:
            row_insert(run)
            for row in self._rows:
                row.run_id = run.pk
        elif not row_update(Run, self._from, self._written):
            _set(run, self._before)
            source = self._from["state"]
            raise TransitionRefused(
                "transition_refused",
                f"{run.run_id} is no longer {source}",
                details={"runId": run.run_id, "state": source},
            )
        rows_insert(self._rows)

    def _add(self, row: JournalRow, columns: Mapping[str, Any]) -> None:
        written = {**columns, "journal_seq": row.seq, "journal_head": row.record_hash}
        self._before = {name: getattr(self._run, name) for name in written} | self._before
        self._written |= written
        self._rows.append(row)
        _set(self._run, written)


def run_move(run: Run, edge_name: str, step: Step, **columns: Any) -> None:
    """Take the run along one edge, with one journal row, and bring the loaded row up to date.

    ``columns`` are written with it. A new run is inserted; its columns must be set before. Belongs inside a
    transaction. Raises TransitionRefused as ``Walk`` does, and then nothing is written.
    """
    walk = Walk(run)
    walk.take(edge_name, step, **columns)
    walk.write()


def journal_append(run: Run, kind: JournalKind, step: Step, **columns: Any) -> None:
    """Write a row that moves nothing, and ``columns`` with it. Same compare-and-set."""
    walk = Walk(run)
    walk.note(kind, step, **columns)
    walk.write()


def hash_of(row: JournalRow, run_id: str) -> str:
    """What ``record_hash`` of the row must be; ``run_id`` is the run's public id."""
    return record_hash(
        run_id=run_id,
        seq=row.seq,
        kind=row.kind,
        edge=row.edge or None,
        from_state=row.from_state or None,
        to_state=row.to_state or None,
        actor=row.actor,
        reason_code=row.reason_code,
        detail=row.detail,
        attempt=row.attempt,
        fencing_token=None if row.fencing_token is None else str(row.fencing_token),
        at=row.at,
        prev_hash=row.prev_hash,
    )


def _next_row(run: Run, step: Step, *, kind: JournalKind, edge: str, moved: tuple[str, str]) -> JournalRow:
    row = row_new(
        JournalRow,
        run_id=run.pk,
        seq=run.journal_seq + 1,
        kind=kind,
        edge=edge,
        from_state=moved[0],
        to_state=moved[1],
        actor=step.actor,
        reason_code=step.reason,
        detail_json=canonical_bytes(dict(step.detail)).decode(),
        attempt=step.attempt.number if step.attempt else None,
        fencing_token=step.attempt.pk if step.attempt else None,
        at=step.at,
        prev_hash=run.journal_head,
    )
    row.record_hash = hash_of(row, run.run_id)
    return row


def _columns_of_state(source: str, target: str, at: datetime) -> dict[str, Any]:
    """The columns that a state decides by itself; a hold belongs to queued runs alone, an end to resting ones."""
    kept: dict[str, Any] = {}
    if source in {"", RunState.QUEUED}:
        kept = {"hold": "", "hold_checked_at": None, "available_at": None}
    if target != RunState.FAILED:
        kept["cause"] = ""
    return kept | {"ended_at": at if target in AT_REST else None}


def _set(run: Run, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(run, name, value)

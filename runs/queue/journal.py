"""The one place that writes a run's state, and the chained journal that says why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import canonical_bytes
from runs.contract.errors import Refused
from runs.contract.receipt import record_hash
from runs.flow import AT_REST, RUN_MACHINE, RunState
from runs.models import Attempt, JournalKind, JournalRow, Run
from runs.rows import row_insert, row_update

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


def run_move(run: Run, edge_name: str, step: Step, **columns: Any) -> None:
    """Take the run along one edge, with one journal row, and bring the loaded row up to date.

    Compare-and-set on (id, state, length of the journal): the row needs no lock, though callers that decide from other
    columns hold one. ``columns`` are written with it. A new run is inserted; its columns must be set before. Belongs
    inside a transaction. Raises TransitionRefused, and then nothing is written.
    """
    edge = RUN_MACHINE.edge(edge_name)
    source = run.state if run.pk else ""
    fits = source in edge.sources if edge.sources else not run.pk
    if not fits or actor_kind(step.actor) not in edge.actors:
        raise TransitionRefused(
            "transition_refused",
            f"{run.run_id} is {source or 'new'}; {step.actor} cannot {edge_name} it",
            details={"runId": run.run_id, "state": source, "edge": edge_name},
        )
    row = _next_row(run, step, kind=JournalKind.TRANSITION, edge=edge.name, moved=(source, str(edge.target)))
    written = {
        **_columns_of_state(edge.target, step.at),
        **columns,
        "state": str(edge.target),
        "reason_code": step.reason,
        "journal_seq": row.seq,
        "journal_head": row.record_hash,
    }
    _write(run, source, written)
    row.run_id = run.pk
    row_insert(row)


def journal_append(run: Run, kind: JournalKind, step: Step, **columns: Any) -> None:
    """Write a row that moves nothing (a fenced write, an extension), and ``columns`` with it. Same compare-and-set."""
    row = _next_row(run, step, kind=kind, edge="", moved=("", ""))
    _write(run, run.state, {**columns, "journal_seq": row.seq, "journal_head": row.record_hash})
    row_insert(row)


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
    row = JournalRow(
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


def _columns_of_state(target: str, at: datetime) -> dict[str, Any]:
    """The columns that a state decides by itself; a hold belongs to queued runs, an end to resting ones."""
    kept: dict[str, Any] = {"hold": "", "hold_checked_at": None, "available_at": None}
    if target != RunState.FAILED:
        kept["cause"] = ""
    return kept | {"ended_at": at if target in AT_REST else None}


def _write(run: Run, source: str, written: dict[str, Any]) -> None:
    if not run.pk:
        for name, value in written.items():
            setattr(run, name, value)
        row_insert(run)
        return
    if not row_update(Run, {"id": run.pk, "state": source, "journal_seq": run.journal_seq}, written):
        raise TransitionRefused(
            "transition_refused", f"{run.run_id} is no longer {source}", details={"runId": run.run_id, "state": source}
        )
    for name, value in written.items():
        setattr(run, name, value)

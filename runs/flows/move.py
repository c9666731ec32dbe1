"""The one way in which a flow row changes state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection

from runs.contract.errors import Refused
from runs.models.transition import TransitionLog
from runs.nudge import nudge
from runs.outbox.write import outbox_add

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runs.machine import Edge, Machine
    from runs.models.flow_row import FlowRow

EFFECT_TOPIC = "flow.effect"

Row = TypeVar("Row", bound="FlowRow")


@dataclass(frozen=True, slots=True)
class Effect:
    """Something to do outside after the commit: a registered handler's name and its JSON arguments.

    ``after`` is in seconds from the move.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class Move:
    """What a decision asks for: the edge, the columns tied to it, the effects, the next look and the state's timer."""

    edge: Edge
    columns: Mapping[str, Any] = field(default_factory=dict)
    effects: Sequence[Effect] = ()
    due_at: datetime | None = None  # None: at once
    timer_at: datetime | None = None
    guards: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def flow_actor(machine: Machine, subject: str) -> str:
    """The flow of this machine over the subject, as an actor of runs, submits, journals and logs."""
    return f"flow:{machine.name}:{subject}"


def flow_start(
    model: type[Row], edge: Edge, *, subject: str, generation: int, actor: str, now: datetime, **columns: Any
) -> tuple[Row, TransitionLog]:
    """Insert a flow row in the edge's target with its first log row; the caller holds the transaction.

    A second active row of the same subject is refused by the table's own unique constraint (``IntegrityError``).
    """
    if edge.sources:
        raise Refused("illegal_edge", f"{edge.name} does not start a {model.machine.name} flow")
    row = model.objects.create(
        subject=subject,
        generation=generation,
        state=edge.target,
        due_at=columns.pop("due_at", now),
        entered_at=now,
        created_at=now,
        **columns,
    )
    log = _log(row, edge, from_state="", actor=actor, now=now, guards={}, note="")
    model.objects.filter(pk=row.pk).update(entry_log=log.pk)
    row.entry_log = log.pk
    nudge("flows")
    return row, log


def flow_move(row: FlowRow, move: Move, *, actor: str, now: datetime) -> TransitionLog:
    """Take the edge, or raise ``Refused`` and change nothing.

    Compare-and-set on (pk, state, generation, version) writes state, the columns tied to it, one log row and the
    effects in the caller's transaction. A lost race means that somebody else moved the row: re-read, do not repeat.
    """
    edge = move.edge
    if row.state not in edge.sources:
        raise Refused("illegal_edge", f"{edge.name} does not leave {row.state}", details={"state": row.state})
    if not connection.in_atomic_block:
        raise RuntimeError("a flow moves inside a transaction of its caller")
    terminal = edge.target in row.machine.terminal
    log = _log(row, edge, from_state=row.state, actor=actor, now=now, guards=dict(move.guards), note=move.note)
    written = {
        "state": edge.target,
        "version": row.version + 1,
        "entered_at": now,
        "entry_log": log.pk,
        "due_at": None if terminal else (move.due_at or now),
        "timer_at": None if terminal else move.timer_at,
        "ended_at": now if terminal else None,
        "look_failures": 0,
        "last_look_error": "",
        **move.columns,
    }
    changed = (
        type(row)
        .objects.filter(pk=row.pk, state=row.state, generation=row.generation, version=row.version)
        .update(**written)
    )
    if not changed:
        raise Refused("moved_on", f"{row.subject} was moved by somebody else", details={"state": row.state})
    for name, value in written.items():
        setattr(row, name, value)
    effects_add(row, log, move.effects, now)
    nudge("flows")
    return log


def effects_add(row: FlowRow, log: TransitionLog, effects: Sequence[Effect], now: datetime) -> None:
    """Add the effects of one log row to the outbox, keyed by that row and their number."""
    for number, effect in enumerate(effects):
        outbox_add(
            topic=EFFECT_TOPIC,
            key=f"{row.machine.name}:{row.generation}:{log.pk}:{number}",
            stream=row.subject,
            payload={
                "flow": row.machine.name,
                "row": row.pk,
                "generation": row.generation,
                "log": log.pk,
                "effect": effect.name,
                "arguments": dict(effect.arguments),
            },
            available_at=now + timedelta(seconds=effect.after),
        )


def _log(
    row: FlowRow, edge: Edge, *, from_state: str, actor: str, now: datetime, guards: dict[str, Any], note: str
) -> TransitionLog:
    return TransitionLog.objects.create(
        flow=row.machine.name,
        flow_row=row.pk,
        subject=row.subject,
        generation=row.generation,
        from_state=from_state,
        to_state=edge.target,
        edge=edge.name,
        event=edge.event,
        guards=guards,
        actor=actor[:200],
        note=note[:500],
        at=now,
    )

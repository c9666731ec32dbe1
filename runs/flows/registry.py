"""Which flow types exist, and the verbs that API, pages and passes call without knowing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from runs.machine import Machine
    from runs.models.flow_row import FlowRow


@dataclass(frozen=True, slots=True)
class Wake:
    """One fact that would move a waiting flow: how it stands now, and what it needs to be."""

    fact: str
    now: str
    need: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a flow waits and what would move it, from rows alone."""

    reason: str
    since: datetime
    due_at: datetime | None
    would_move_on: Sequence[Wake]
    last_look_at: datetime | None = None
    last_look_error: str = ""
    next_look_at: datetime | None = None
    paused_by: str | None = None
    sentence: str = ""

    def as_json(self) -> dict[str, Any]:
        """The object of the API."""
        return {
            "reason": self.reason,
            "sentence": self.sentence,
            "since": self.since,
            "dueAt": self.due_at,
            "wouldMoveOn": [asdict(wake) for wake in self.would_move_on],
            "lastLookAt": self.last_look_at,
            "lastLookError": self.last_look_error or None,
            "nextLookAt": self.next_look_at,
            "pausedBy": self.paused_by,
        }


@dataclass(frozen=True, slots=True)
class EffectCall:
    """One effect in hand: its name, its arguments, the row that asked for it, and its key as the write's identity."""

    name: str
    arguments: Mapping[str, Any]
    row: FlowRow
    generation: int
    log: int
    key: str
    repeated: bool


Look = Callable[[Sequence["FlowRow"]], None]
Cancel = Callable[..., None]
Handler = Callable[[EffectCall], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class FlowType:
    """One flow type: its machine and table, and its verbs.

    ``look`` reads the facts of the rows, batched, and advances each; a row's failure is its own. ``cancel(row, actor=,
    reason=)`` ends the row's subject or raises ``Refused``. ``waiting_for(row)`` answers from rows alone. ``fence(row,
    generation)`` says whether an effect of that generation may still leave. ``effects`` maps names to handlers.
    """

    name: str
    model: type[FlowRow]
    look: Look
    cancel: Cancel
    waiting_for: Callable[[Any], Waiting]
    fence: Callable[[Any, int], bool]
    effects: Mapping[str, Handler] = field(default_factory=dict)

    @property
    def machine(self) -> Machine:
        """The table of this flow type."""
        return self.model.machine

    def rows(self, subject: str) -> QuerySet[FlowRow]:
        """The subject's rows of this type, the newest generation first."""
        return self.model.objects.filter(subject=subject).order_by("-generation")


_types: dict[str, FlowType] = {}
_successors: dict[str, Callable[..., FlowRow | None]] = {}


def register_flow(flow: FlowType) -> None:
    """Make the flow type known; a second registration of the name replaces the first."""
    _types[flow.name] = flow


def register_successor(name: str, starter: Callable[..., FlowRow | None]) -> None:
    """Have ``starter(row, actor=, now=)`` called in the transaction in which a flow of type ``name`` hands over."""
    _successors[name] = starter


def flow_types() -> list[FlowType]:
    """Every registered flow type, by name."""
    return [_types[name] for name in sorted(_types)]


def flow_type(name: str) -> FlowType:
    """The flow type of this name; ``KeyError`` when none is registered."""
    return _types[name]


def successor(name: str, row: FlowRow, *, actor: str, now: datetime) -> FlowRow | None:
    """Start what follows a flow of type ``name`` in the caller's transaction; None when nothing follows."""
    starter = _successors.get(name)
    return starter(row, actor=actor, now=now) if starter else None


def driving(subject: str) -> tuple[FlowType, FlowRow] | None:
    """The flow that drives the subject now: the active row, else the one that ended last; None when it has none."""
    found = [(flow, row) for flow in flow_types() if (row := flow.rows(subject).first()) is not None]
    if not found:
        return None
    return max(
        found, key=lambda pair: (pair[1].generation, not pair[1].is_terminal, pair[1].ended_at or pair[1].entered_at)
    )

"""A state machine as one declarative table: states, named edges, guards; everything else is derived from it.

Pure: no database, no clock, no network. A machine's table is the only source of its choices, CHECK, terminal set,
diagram, badges, buttons and generated tests.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Guard = Callable[[Any], bool]


class Kind(StrEnum):
    """Who or what moves a row out of a state of this kind."""

    AUTOMATIC = "automatic"
    AGENT = "agent"
    HUMAN = "human"
    EXTERNAL = "external wait"
    TERMINAL = "terminal"


class Tone(StrEnum):
    """How a state looks on screen (design tokens of the console)."""

    IDLE = "idle"
    MOVE = "move"
    WAIT = "wait"
    YOU = "you"
    GOOD = "good"
    BAD = "bad"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class State:
    """One state: its stored value, its kind, and how people see it (glyph, word, tone)."""

    value: str
    kind: Kind
    word: str
    glyph: str
    tone: Tone
    shows: str = ""  # what the subject's own state column says meanwhile


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from ``sources`` (none: a new row) to ``target``, fired by ``event`` when every guard holds.

    ``reason`` names the question of an edge that asks a person; ``effects`` names what is written or done with it.
    """

    name: str
    sources: tuple[str, ...]
    target: str
    event: str
    actors: tuple[str, ...]
    guards: tuple[Guard, ...] = ()
    reason: str = ""
    effects: tuple[str, ...] = ()

    def holds(self, facts: Any) -> bool:
        """Whether every guard says yes to these facts."""
        return all(guard(facts) for guard in self.guards)

    def label(self) -> str:
        """The edge's event and guards in words, for diagrams."""
        return " · ".join([self.event, *(guard_name(guard) for guard in self.guards)])


def guard_name(guard: Guard) -> str:
    """The guard's function name in words."""
    return getattr(guard, "__name__", "guard").strip("_").replace("_", " ")


def negated(guard: Guard) -> Guard:
    """A guard that holds exactly when the given one does not; its name says so."""

    def inverse(facts: Any) -> bool:
        return not guard(facts)

    inverse.__name__ = f"not_{getattr(guard, '__name__', 'guard')}"
    return inverse


class TableError(ValueError):
    """A table that contradicts itself; the message names the machine and the row."""


class Machine:
    """A checked table. ``edges`` keeps the order of the literal: within a state the first row that holds wins."""

    def __init__(
        self, name: str, states: Iterable[State], edges: Iterable[Edge], *, resting: Iterable[str] = ()
    ) -> None:
        """``resting`` names states at rest that still have an edge out (a failed run that may be tried again)."""
        self.name = name
        self.states = {state.value: state for state in states}
        self.edges = tuple(edges)
        self.resting = frozenset(resting)
        self._check()

    @property
    def terminal(self) -> frozenset[str]:
        """Values of the states that nothing leaves."""
        return frozenset(value for value, state in self.states.items() if state.kind is Kind.TERMINAL)

    @property
    def values(self) -> tuple[str, ...]:
        """Every state's stored value, in the order of the table."""
        return tuple(self.states)

    def choices(self) -> list[tuple[str, str]]:
        """Choices of the model field."""
        return [(value, state.word) for value, state in self.states.items()]

    def edge(self, name: str) -> Edge:
        """The edge of this name; ``KeyError`` when the table has none."""
        for edge in self.edges:
            if edge.name == name:
                return edge
        raise KeyError(f"{self.name} has no edge {name!r}")

    def out_of(self, state: str) -> tuple[Edge, ...]:
        """The edges that may leave this state, in the order they are tried."""
        return tuple(edge for edge in self.edges if state in edge.sources)

    def advance(self, state: str, event: str, facts: Any) -> Edge | None:
        """The first edge of this state for this event whose guards all hold; None when nothing moves. Does no I/O."""
        for edge in self.out_of(state):
            if edge.event == event and edge.holds(facts):
                return edge
        return None

    def allows(self, name: str, state: str, actor: str = "") -> bool:
        """Whether the named edge may leave this state (and this kind of actor may fire it)."""
        return any(
            edge.name == name and state in edge.sources and (not actor or actor in edge.actors) for edge in self.edges
        )

    def _check(self) -> None:
        names = [edge.name for edge in self.edges]
        doubled = {name for name in names if names.count(name) > 1}
        if doubled:
            raise TableError(f"{self.name}: edge names are used twice: {sorted(doubled)}")
        for edge in self.edges:
            unknown = {*edge.sources, edge.target} - set(self.states)
            if unknown:
                raise TableError(f"{self.name}: edge {edge.name} names unknown states {sorted(unknown)}")
            if self.terminal.intersection(edge.sources):
                raise TableError(f"{self.name}: edge {edge.name} leaves a terminal state")
        self._check_reachable()
        stuck = [value for value in self.states if value not in self.terminal and not self.out_of(value)]
        if stuck:
            raise TableError(f"{self.name}: no way out of {stuck}")

    def _check_reachable(self) -> None:
        reached = {edge.target for edge in self.edges if not edge.sources}
        while True:
            grown = reached | {edge.target for edge in self.edges if reached.intersection(edge.sources)}
            if grown == reached:
                break
            reached = grown
        unreachable = [value for value in self.states if value not in reached]
        if unreachable:
            raise TableError(f"{self.name}: unreachable states {unreachable}")


def mermaid(machine: Machine, current: str = "") -> str:
    """The machine as Mermaid text, one arrow a (source, edge); the current state, if given, is marked."""
    lines = ["stateDiagram-v2"]
    for value, state in machine.states.items():
        lines.append(f"    {value}: {state.word} ({state.kind.value})")
    for edge in machine.edges:
        for source in edge.sources or ("[*]",):
            lines.append(f"    {source} --> {edge.target}: {edge.name}")
    lines += [f"    {value} --> [*]" for value in machine.values if value in machine.terminal]
    if current:
        lines += ["    classDef now stroke-width:3px", f"    class {current} now"]
    return "\n".join(lines) + "\n"


def table_rows(machine: Machine) -> list[Mapping[str, str]]:
    """One row an edge, in words, for documents and screens."""
    return [
        {
            "edge": edge.name,
            "from": ", ".join(edge.sources) or "(new)",
            "to": edge.target,
            "event": edge.event,
            "guards": ", ".join(guard_name(guard) for guard in edge.guards) or "always",
            "who": ", ".join(edge.actors),
            "reason": edge.reason,
            "effects": ", ".join(edge.effects),
        }
        for edge in machine.edges
    ]

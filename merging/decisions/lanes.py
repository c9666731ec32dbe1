"""The order of a lane: which neighbours go first. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from merging.flow import IN_MOTION, LANDING_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group: its name, its place in the order, and the state of its merge flow (blank: none)."""

    name: str
    depth: int
    position: int
    state: str = ""
    passed: bool = False

    @property
    def order(self) -> tuple[int, int, str]:
        """What the members of a lane are sorted by: lower depth, then the position in the plan."""
        return self.depth, self.position, self.name


def neighbours(name: str, edges: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The members that have an edge with this one."""
    return frozenset(pair[1] if pair[0] == name else pair[0] for pair in edges if name in pair)


def lane(name: str, edges: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The connected members around this one, itself included; a lane of one never holds."""
    pairs = list(edges)
    seen, frontier = {name}, {name}
    while frontier:
        frontier = {each for one in frontier for each in neighbours(one, pairs)} - seen
        seen |= frontier
    return frozenset(seen)


def ahead(name: str, members: Mapping[str, Member], edges: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The direct neighbours that go first: in motion and earlier in the order, or landing at this moment.

    A member that a person let pass waits for none but those that are landing. Two without a common edge never wait for
    each other.
    """
    own = members[name]
    found = [members[each] for each in neighbours(name, edges) if each in members]
    waited_for = [
        other
        for other in found
        if other.state in LANDING_STATES
        or (other.state in IN_MOTION and not own.passed and (other.passed or other.order < own.order))
    ]
    return tuple(each.name for each in sorted(waited_for, key=lambda each: each.order))


def lane_order(name: str, members: Mapping[str, Member], edges: Iterable[tuple[str, str]]) -> Sequence[str]:
    """The names of the lane around this member, in the order in which they land."""
    found = [members[each] for each in lane(name, edges) if each in members]
    return [each.name for each in sorted(found, key=lambda each: each.order)]

"""The table of openings: how a history begins that is to take one certain edge."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Opening:
    """What happens first, and what the site's rules have to be for it; `edge` is "flow:edge"."""

    edge: str
    play: Callable[[Any], None]
    site: dict[str, Any] = field(default_factory=dict)


OPENINGS: list[Opening] = []


def nothing(stage):
    """The history begins by chance."""
    del stage


NO_OPENING = Opening("", nothing)


def opening(*edges, **site):
    """Have the function begin some of the histories, each time on the way to one of these edges."""

    def listed(play):
        OPENINGS.extend(Opening(edge, play, site) for edge in edges)
        return play

    return listed


def opening_of(seed):
    """Every other history has an opening, and each opening has its turn."""
    ordered = sorted(OPENINGS, key=lambda each: each.edge)
    return ordered[seed // 2 % len(ordered)] if seed % 2 and ordered else NO_OPENING

"""The table of moves."""

from typing import Any

MOVES: dict[Any, float] = {}  # function: weight
RARER = {"reviewing": 0.2, "people": 0.7}  # modules, in histories about merging
RARE = {"somebody_pushes", "somebody_force_pushes", "drafted_or_ready", "retargeted", "closed", "submitted", "claimed"}


def move(weight):
    """Have the function drawn with this weight."""

    def listed(function):
        MOVES[function] = weight
        return function

    return listed


def weights(*, merging):
    """Each move with its weight; reviews and pushes of others are rare in histories about merging."""
    if not merging:
        return dict(MOVES)
    return {
        function: weight
        * RARER.get(function.__module__.rpartition(".")[2], 1.0)
        * (0.4 if function.__name__ in RARE else 1.0)
        for function, weight in MOVES.items()
    }

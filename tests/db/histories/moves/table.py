"""The table of moves."""

from typing import Any

MOVES: dict[Any, int] = {}  # function: weight


def move(weight):
    """Have the function drawn with this weight."""

    def listed(function):
        MOVES[function] = weight
        return function

    return listed

"""What may happen in a history: each move is a function of the stage, drawn by its weight."""

from tests.db.histories.moves import agents, code, directed, faults, merging, order, people, product, queues, reviewing
from tests.db.histories.moves.table import weights

__all__ = [
    "agents",
    "code",
    "directed",
    "faults",
    "merging",
    "order",
    "people",
    "product",
    "queues",
    "reviewing",
    "weights",
]

"""What may happen in a history: each move is a function of the stage, drawn by its weight."""

from tests.db.histories.moves import agents, code, faults, people, product, reviewing
from tests.db.histories.moves.table import MOVES

__all__ = ["MOVES", "agents", "code", "faults", "people", "product", "reviewing"]

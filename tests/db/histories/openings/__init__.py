"""Openings of histories: moves in an order that leads to an edge which chance alone seldom takes."""

from tests.db.histories.openings import endings, faulty, gate, merges, scopes, turns, waits
from tests.db.histories.openings.table import Opening, opening_of

__all__ = ["Opening", "endings", "faulty", "gate", "merges", "opening_of", "scopes", "turns", "waits"]

"""What every verb of an operator shares: the reason as the journal keeps it."""

from __future__ import annotations

from typing import Any

LONGEST_REASON = 500  # characters


def reason_detail(reason: str) -> dict[str, Any]:
    """The journal's detail of an act: the person's own words, if any were given."""
    return {"reason": reason[:LONGEST_REASON]} if reason else {}

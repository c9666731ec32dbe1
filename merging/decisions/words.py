"""Words of agents and of files in repositories, brought to the one form in which they are compared."""

from __future__ import annotations

from typing import Any


def word(value: Any) -> str:
    """Trimmed, lower-case, with underscores: ``Waiting-on-PR`` is ``waiting_on_pr``. Blank for what is no text."""
    return value.strip().lower().replace("-", "_") if isinstance(value, str) else ""

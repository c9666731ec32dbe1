"""Asking a periodic pass to start sooner, once the transaction that made work for it has committed.

Only latency depends on it: every pass finds its work by due date anyway.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
_starter: list[Callable[[str], None]] = []


def register_starter(starter: Callable[[str], None]) -> None:
    """Have ``starter(pass name)`` called after commits; the last one registered is used."""
    _starter[:] = [starter]


@dataclass(frozen=True, slots=True)
class _Start:
    """One pass to start after the commit; equal ones of a transaction are kept once."""

    pass_name: str

    def __call__(self) -> None:
        for starter in _starter:
            try:
                starter(self.pass_name)
            except Exception:  # noqa: BLE001  # only a convenience: whatever it raises, the due date still counts
                _log.warning("could not wake the pass %s", self.pass_name, exc_info=True)


def nudge(pass_name: str) -> None:
    """Start the pass right after the commit of the transaction at hand (or now, outside of one). Never raises."""
    start = _Start(pass_name)
    waiting = [entry[1] for entry in transaction.get_connection().run_on_commit]
    if _starter and start not in waiting:
        transaction.on_commit(start, robust=True)

"""Asking a periodic pass to start sooner, once the transaction that made work for it has committed.

Only latency depends on it: every pass finds its work by due date anyway.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from django.db import transaction

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
_starter: list[Callable[[str], None]] = []


def register_starter(starter: Callable[[str], None]) -> None:
    """Have ``starter(pass name)`` called after commits; the last one registered is used."""
    _starter[:] = [starter]


def nudge(pass_name: str) -> None:
    """Start the pass right after the commit of the transaction at hand (or now, outside of one). Never raises."""
    if _starter:
        transaction.on_commit(lambda: _start(pass_name), robust=True)


def _start(pass_name: str) -> None:
    with suppress(IndexError):
        try:
            _starter[0](pass_name)
        except Exception:  # noqa: BLE001  # the waker is a convenience: whatever it raises, the due date still counts
            _log.warning("could not wake the pass %s", pass_name, exc_info=True)

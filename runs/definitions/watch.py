"""What is wrong with the definition files of a running system, whose last good set stays in use meanwhile."""

from __future__ import annotations

import threading
import time

from runs.contract.errors import Invalid
from runs.definitions.load import catalogue_load
from runs.definitions.sync import definition_folders

LOOK_EVERY = 10.0  # seconds; as for the policy, a change of a file shows within this time

_lock = threading.Lock()
_seen: list[tuple[float, str]] = []


def definitions_fault() -> str:
    """The first fault of the files and how many more there are, at most 10 s old; blank when they are right."""
    with _lock:
        if not _seen or time.monotonic() - _seen[0][0] > LOOK_EVERY:
            _seen[:] = [(time.monotonic(), _fault())]
        return _seen[0][1]


def _fault() -> str:
    try:
        faults = catalogue_load(definition_folders()).faults
    except Invalid as error:  # of the policy, which says so itself
        return error.message
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}" if faults else ""

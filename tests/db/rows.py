"""The form of the doctor's faults in tests: what provokes each, what it says, which command mends it."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from runs.clock import now

Rows = Mapping[str, tuple[Callable[[], Callable[[], object]], str, str]]  # code: provoker of a mend, sentence, command


def ago(**span):
    """The instant so long before now."""
    return now() - timedelta(**span)

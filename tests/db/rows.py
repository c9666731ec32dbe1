"""The form of the doctor's faults in tests: what provokes each, what it says, which command mends it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

Rows = Mapping[str, tuple[Callable[[], Callable[[], object]], str, str]]  # code: provoker of a mend, sentence, command


def now():
    """This host's instant, which is the database's here; that one cannot be asked while tests are collected."""
    return datetime.now(UTC)


def ago(**span):
    """The instant so long before now."""
    return now() - timedelta(**span)

"""The one error tree, sorted by what the caller can do about it."""

from collections.abc import Mapping
from typing import Any


class FactoryError(Exception):
    """Carries a stable ``code`` for programs, one sentence for people, and optional ``details``."""

    retryable = False

    def __init__(self, code: str, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        """Keep the three parts; ``str()`` is the sentence alone."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})


class Refused(FactoryError):
    """The state moved on: re-read, never repeat blindly."""


class Invalid(FactoryError):
    """The caller's own fault, shown to them with the field and the next step."""


class NotFound(FactoryError):
    """The one object that was asked for is not there; what that means is the caller's to decide."""


class Permanent(FactoryError):
    """Will not heal by itself: escalate to a person."""


class Transient(FactoryError):
    """May heal by itself: look again after ``retry_after`` seconds."""

    retryable = True

    def __init__(
        self, code: str, message: str, *, retry_after: float = 5.0, details: Mapping[str, Any] | None = None
    ) -> None:
        """``retry_after`` is in seconds from now, never negative."""
        super().__init__(code, message, details=details)
        self.retry_after = max(0.0, retry_after)

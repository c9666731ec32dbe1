"""Instants on the wire: RFC 3339 in UTC with microseconds and ``Z``."""

import re
from datetime import UTC, datetime

from runs.contract.errors import Invalid

INSTANT_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|\+00:00)")
MICROSECOND_DIGITS = 6


def format_instant(at: datetime) -> str:
    """Six digits of a second and ``Z``; a naive datetime is a programming fault (``ValueError``)."""
    if at.tzinfo is None:
        message = "an instant without a time zone says nothing"
        raise ValueError(message)
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def parse_instant(text: str) -> datetime:
    """The instant in UTC; digits beyond microseconds are cut. ``Invalid`` (``invalid_instant``) otherwise."""
    if not INSTANT_PATTERN.fullmatch(text):
        message = f"{text!r} is not an RFC 3339 instant in UTC"
        raise Invalid("invalid_instant", message)
    stem = text.removesuffix("Z").removesuffix("+00:00")
    seconds, _, fraction = stem.partition(".")
    micros = int(fraction[:MICROSECOND_DIGITS].ljust(MICROSECOND_DIGITS, "0")) if fraction else 0
    try:
        return datetime.fromisoformat(seconds).replace(microsecond=micros, tzinfo=UTC)
    except ValueError as error:
        message = f"{text!r} is not a date of the calendar"
        raise Invalid("invalid_instant", message) from error

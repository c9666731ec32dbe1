"""What an answer of GitHub says about limits: until when nothing may be sent, and what is left of a budget."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from convergence.forge.governor.account import Told
from convergence.forge.wire.transport import Exchange

UNTIMED = timedelta(seconds=60)  # GitHub's advice where it names no time

_random = random.SystemRandom()


def limit_until(
    exchange: Exchange, message: str, now: datetime, next_secondary: Callable[[], timedelta]
) -> tuple[datetime, bool] | None:
    """Return (end of the block, whether it covers every resource) if a 403 or 429 is a limit, else ``None``."""
    status, headers = exchange.status, exchange.headers
    if status not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
        return None
    wait = _seconds(headers.get("Retry-After"))
    if wait is not None:
        return now + timedelta(seconds=wait * (1 + _random.uniform(0, 0.1))), True
    if headers.get("X-RateLimit-Remaining") == "0":
        reset = _seconds(headers.get("X-RateLimit-Reset"))
        if reset is not None:
            return after_reset(reset), False
    words = message.lower()
    if "secondary rate limit" in words or "abuse detection" in words:
        return now + next_secondary(), True
    if status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit exceeded" in words:
        return now + UNTIMED, False
    return None


def told_by(exchange: Exchange) -> Told | None:
    """Return what the headers say is left; ``None`` on a server that counts nothing."""
    limit, remaining, reset = (
        _seconds(exchange.headers.get(f"X-RateLimit-{name}")) for name in ("Limit", "Remaining", "Reset")
    )
    if not limit or remaining is None or reset is None:
        return None
    return Told(limit=int(limit), remaining=int(remaining), reset_at=datetime.fromtimestamp(reset, UTC))


def after_reset(reset: float) -> datetime:
    """The instant at which a spent budget is used again: 1 to 5 s after the reset that GitHub names (epoch seconds)."""
    return datetime.fromtimestamp(reset, UTC) + timedelta(seconds=_random.uniform(1, 5))


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None

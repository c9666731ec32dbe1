"""Until when a wait of the flow lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from datetime import datetime, timedelta


def review_deadline(now: datetime) -> datetime:
    """When the wait for a review, or for a readable gate, is over."""
    limit: timedelta = settings.FACTORY.review_wait_timeout
    return now + limit

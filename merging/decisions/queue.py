"""Whether a pull request has left the forge's merge queue, and why. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from merging.facts import Reason

if TYPE_CHECKING:
    from convergence.forge.facts import TimelineEvent

QUEUE_BOTS = frozenset({"github-merge-queue"})  # who removes an entry when nobody asked for it
PERSON = re.compile(r"manual|dequeued|user request|by (?:a )?user", re.IGNORECASE)
CONFLICT = re.compile(r"conflict|merge tree|invalid merge", re.IGNORECASE)
CHECKS = re.compile(r"check|ci[ _]|status|timeout|timed out", re.IGNORECASE)


def has_left(*, in_queue: bool | None, seen: bool, dirty: bool) -> bool:
    """Whether an open pull request is out: an entry that was once seen is gone, or it conflicts. Unread is not gone."""
    return dirty or (seen and in_queue is False)


def eviction_reason(event: TimelineEvent | None, *, dirty: bool, own_login: str) -> Reason:
    """Why it left, from the newest removal of its timeline; None: the forge names none.

    An actor who is neither the product nor the forge's own queue meant it, whatever words stand beside it.
    """
    actor = (event.actor or "").lower().removesuffix("[bot]") if event else ""
    words = (event.reason or "") if event else ""
    own = own_login.lower().removesuffix("[bot]")
    if actor and actor not in QUEUE_BOTS and actor != own:
        return Reason.QUEUE_TAKEN_OUT
    if PERSON.search(words) and actor != own:
        return Reason.QUEUE_TAKEN_OUT
    if dirty or CONFLICT.search(words):
        return Reason.QUEUE_CONFLICT
    if CHECKS.search(words):
        return Reason.QUEUE_CHECKS
    return Reason.QUEUE_CLEARED

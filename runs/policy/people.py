"""The people who are asked."""

from __future__ import annotations

from datetime import timedelta

from runs.policy.forms import Block, Duration


class Tasks(Block):
    """How people are reminded of open questions: after each of these ages, then every 24 hours."""

    reminders: tuple[Duration, ...] = (timedelta(hours=4), timedelta(hours=24))

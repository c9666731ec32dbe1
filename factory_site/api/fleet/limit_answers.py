"""What the routes of pauses and budgets answer."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # pydantic reads the annotations
from typing import Literal

from factory_site.api.shapes import Wire


class PauseRow(Wire):
    """One pause; ``liftedAt`` is null while it is not lifted."""

    id: int
    scope: Literal["global", "repository", "agent"]
    key: str | None
    reason: str
    by: str
    since: datetime
    until: datetime | None
    lifted_at: datetime | None
    lifted_by: str | None
    lift_reason: str | None


class PauseList(Wire):
    """A window of pauses."""

    items: list[PauseRow]
    next_before: str | None


class Money(Wire):
    """USD and tokens; null: that side has no limit."""

    usd: float | None
    tokens: int | None


class RaiseRow(Wire):
    """One raise of a limit."""

    usd: float | None
    tokens: int | None
    reason: str
    by: str
    at: datetime


class Budget(Wire):
    """One limit: what it is, what was charged, is reserved and was added, and the runs that wait for it."""

    scope: Literal["day", "subject", "run"]
    key: str
    label: str
    limit: Money
    spent: Money
    reserved: Money
    raised: Money
    left: Money
    percent: int
    reached: bool
    held: int
    resets_at: datetime | None
    raises: list[RaiseRow]


class CapAnswer(Wire):
    """One finite cap on unfinished attempts."""

    code: str
    name: str
    node: str | None
    limit: int
    used: int
    held: int


class Budgets(Wire):
    """Every budget, and every finite cap."""

    items: list[Budget]
    caps: list[CapAnswer]


class DaySpend(Wire):
    """What the UTC day has cost, is reserved, and may cost."""

    day: str
    spent: Money
    reserved: Money
    allowed: Money
    reached: bool
    line: str

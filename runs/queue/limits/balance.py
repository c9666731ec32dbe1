"""A budget and what has been used of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runs.policy.limits import Allowance

MICRO = 1_000_000  # µUSD in a USD


@dataclass(frozen=True, slots=True)
class Amount:
    """Money in µUSD and tokens that were spent, are set apart or were added."""

    micro_usd: int = 0
    tokens: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.micro_usd + other.micro_usd, self.tokens + other.tokens)

    def __bool__(self) -> bool:
        return bool(self.micro_usd or self.tokens)


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be spent in µUSD and tokens; None: that side has no limit."""

    micro_usd: int | None = None
    tokens: int | None = None

    def __bool__(self) -> bool:
        return self.micro_usd is not None or self.tokens is not None


def micro_usd_typed(text: str) -> int | None:
    """Dollars as a person writes them, in µUSD: nothing for nothing, None for what is no number."""
    if not text.strip():
        return 0
    try:
        dollars = Decimal(text.strip())
    except InvalidOperation:
        return None
    return round(dollars * MICRO) if dollars.is_finite() else None


def limit_of(allowance: Allowance | None) -> Limit:
    """The limit that the policy sets; none where it sets nothing."""
    return Limit() if allowance is None else Limit(allowance.micro_usd, allowance.tokens)


def spec_limit(spec: Mapping[str, Any]) -> Limit:
    """The budget that a run specification names for the run."""
    budget = spec.get("budget") or {}
    usd = budget.get("usd")
    return Limit(None if usd is None else round(usd * MICRO), budget.get("tokens"))


@dataclass(frozen=True, slots=True)
class Balance:
    """A limit, what was charged, what unfinished attempts may still use of their runs' budgets, and what was raised."""

    limit: Limit
    spent: Amount = NOTHING
    reserved: Amount = NOTHING
    raised: Amount = NOTHING

    @property
    def allowed(self) -> Limit:
        """The limit with every raise."""
        return Limit(_sum(self.limit.micro_usd, self.raised.micro_usd), _sum(self.limit.tokens, self.raised.tokens))

    @property
    def used(self) -> Amount:
        """What was charged and what is reserved."""
        return self.spent + self.reserved

    @property
    def is_reached(self) -> bool:
        """Whether nothing more may begin: one side, or both, has been used up."""
        return any(used >= allowed for used, allowed in self._sides())

    @property
    def percent(self) -> int:
        """How much of the fuller side is used, rounded down; 0 without a limit, 100 for a limit of nothing."""
        return max((100 if not allowed else used * 100 // allowed for used, allowed in self._sides()), default=0)

    @property
    def left(self) -> Limit:
        """What may still be spent, never negative."""
        return Limit(
            _rest(self.allowed.micro_usd, self.used.micro_usd),
            _rest(self.allowed.tokens, self.used.tokens),
        )

    def _sides(self) -> Iterator[tuple[int, int]]:
        """Used and allowed, for each side that has a limit."""
        allowed, used = self.allowed, self.used
        if allowed.micro_usd is not None:
            yield used.micro_usd, allowed.micro_usd
        if allowed.tokens is not None:
            yield used.tokens, allowed.tokens


def _sum(limit: int | None, added: int) -> int | None:
    return None if limit is None else limit + added


def _rest(allowed: int | None, used: int) -> int | None:
    return None if allowed is None else max(0, allowed - used)

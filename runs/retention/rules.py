"""The rules of retention: what each removes, by which key of the policy, and how an app registers its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from runs.policy import policy
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.db.models import QuerySet

BATCH = 500  # rows of a transaction


class Removal(Protocol):
    """How one kind of rows is counted and removed."""

    def count(self, before: datetime) -> int:
        """How many would go."""

    def remove_some(self, before: datetime) -> int:
        """Remove some in transactions of at most 500 rows; return how many, 0 when none is left."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the retention table: ``key`` of the policy's block, ``what`` goes, and how."""

    name: str
    key: str
    what: str
    removal: Removal

    @property
    def days(self) -> int | None:
        """Days that the policy keeps it; None: for ever."""
        found: int | None = getattr(policy().retention, self.key)
        return found


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one table, found by ``over(before)``, oldest first; nothing hangs on them."""

    over: Callable[[datetime], QuerySet[Any]]

    def count(self, before: datetime) -> int:
        """How many would go."""
        return self.over(before).count()

    def remove_some(self, before: datetime) -> int:
        """Find them without a lock, and remove those that are still over; at most 500."""
        keys = list(self.over(before).values_list("pk", flat=True)[:BATCH])
        if not keys:
            return 0
        with write_transaction():
            gone, _ = self.over(before).filter(pk__in=keys).order_by().delete()
        return gone


_rules: dict[str, Rule] = {}


def register_rule(rule: Rule) -> None:
    """Have `prune` apply the rule; the last one of a name counts."""
    _rules[rule.name] = rule


def rules() -> list[Rule]:
    """Every rule in the order of registration: what hangs on others goes first."""
    return list(_rules.values())

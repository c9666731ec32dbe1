"""Which placement classes may not be claimed now, and by what: decided from what stands, before any run is read. Pure.

A pause hits everything, a repository or an agent; a cap counts unfinished attempts; the day's budget stops what can
spend. The first that holds is the one that is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runs.queue.limits.balance import NOTHING, Amount, Balance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runs.models import PlacementClass
    from runs.policy import Policy

FREE_ADAPTERS = frozenset({"command", "actions"})  # what they run costs no tokens, so no budget stops them


class BlockCode(StrEnum):
    """Why a class is not claimed, in the order in which it is asked."""

    PAUSED_GLOBAL = "paused_global"
    PAUSED_REPOSITORY = "paused_repository"
    PAUSED_AGENT = "paused_agent"
    WEIGHT_CLASS_FULL = "weight_class_full"
    REPOSITORY_FULL = "repository_full"
    AGENT_FULL = "agent_full"
    DAY_BUDGET = "day_budget"

    @property
    def is_pause(self) -> bool:
        """Whether a person's pause holds it; else a cap or the day's budget does."""
        return self in PAUSES.values()


PAUSES = {
    "global": BlockCode.PAUSED_GLOBAL,
    "repository": BlockCode.PAUSED_REPOSITORY,
    "agent": BlockCode.PAUSED_AGENT,
}


@dataclass(frozen=True, slots=True)
class PauseSeen:
    """One pause in force; ``key`` in the case in which it was given."""

    pk: int
    scope: str
    key: str


@dataclass(frozen=True, slots=True)
class OpenAttempts:
    """Unfinished attempts of one weight, repository and agent on one node, and what they have reserved together."""

    weight_class: str
    repository: str
    agent_id: str
    node: str
    count: int = 1
    reserved: Amount = NOTHING


@dataclass(frozen=True, slots=True)
class Cap:
    """At most ``limit`` unfinished attempts of this name; ``node`` is blank where all nodes count together."""

    code: BlockCode
    name: str
    limit: int
    node: str = ""

    @property
    def lock_name(self) -> str:
        """What two claims that count this cap both name."""
        return f"cap:{self.code}:{self.name}@{self.node}"

    def counts(self, each: OpenAttempts) -> bool:
        """Whether these attempts fall under it."""
        if self.node and each.node != self.node:
            return False
        if self.code is BlockCode.WEIGHT_CLASS_FULL:
            return each.weight_class == self.name
        if self.code is BlockCode.REPOSITORY_FULL:
            return each.repository.lower() == self.name
        return each.agent_id == self.name


@dataclass(frozen=True, slots=True)
class Block:
    """What keeps a class from being claimed: the pause, or the cap with its count, or the day's budget."""

    code: BlockCode
    pause: PauseSeen | None = None
    cap: Cap | None = None
    used: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What pauses, unfinished attempts and the day's spending come to at one instant."""

    policy: Policy
    pauses: Sequence[PauseSeen] = ()
    open: Sequence[OpenAttempts] = ()
    day: Balance | None = None

    def block_of(self, row: PlacementClass, node: str) -> Block | None:
        """What keeps this class from being claimed on this node; None when nothing does."""
        for pause in self.pauses:
            if _is_paused(row, pause):
                return Block(PAUSES[pause.scope], pause=pause)
        for cap in caps_of(row, self.policy, node):
            if (used := self.used(cap)) >= cap.limit:
                return Block(cap.code, cap=cap, used=used)
        if self.day is not None and can_spend(row) and self.day.is_reached:
            return Block(BlockCode.DAY_BUDGET)
        return None

    def used(self, cap: Cap) -> int:
        """How many unfinished attempts fall under the cap."""
        return sum(each.count for each in self.open if cap.counts(each))


def can_spend(row: PlacementClass) -> bool:
    """Whether budgets speak of this class."""
    return row.adapter not in FREE_ADAPTERS


def caps_of(row: PlacementClass, policy: Policy, node: str) -> Iterator[Cap]:
    """The finite caps that count this class, in the order in which they are told."""
    weight = policy.weight_classes.get(row.weight_class)
    if weight is not None and weight.max is not None:
        yield Cap(BlockCode.WEIGHT_CLASS_FULL, row.weight_class, weight.max)
    if weight is not None and weight.per_node is not None and node:
        yield Cap(BlockCode.WEIGHT_CLASS_FULL, row.weight_class, weight.per_node, node)
    of_repository = policy.limits.of_repository(row.repository) if row.repository else None
    if of_repository is not None:
        yield Cap(BlockCode.REPOSITORY_FULL, row.repository.lower(), of_repository)
    of_agent = policy.limits.per_agent.get(row.agent_id)
    if of_agent is not None:
        yield Cap(BlockCode.AGENT_FULL, row.agent_id, of_agent)


def _is_paused(row: PlacementClass, pause: PauseSeen) -> bool:
    if pause.scope == "repository":
        return bool(row.repository) and row.repository.lower() == pause.key.lower()
    return pause.scope == "global" or pause.key == row.agent_id

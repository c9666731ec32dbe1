"""May a branch be deleted? Only one that the product made, at the very commit that is proven to have landed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """What is known of a branch; None is unknown, and unknown keeps it."""

    allowed: bool = False  # by the policy
    made_here: bool = False
    merged: bool = False  # its pull request, with the landing proven
    tip: str | None = None  # where it points now
    landed_head: str = ""  # the head that landed
    open_pulls: int | None = None  # open pull requests that have it as head or base


def may_delete(facts: BranchFacts) -> bool:
    """Whether all of it holds."""
    return (
        facts.allowed
        and facts.made_here
        and facts.merged
        and bool(facts.landed_head)
        and facts.tip == facts.landed_head
        and facts.open_pulls == 0
    )

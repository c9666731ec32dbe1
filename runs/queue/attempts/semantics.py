"""Semantic checks of output contracts: what a result claims against what can be recomputed. Apps register theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_VALUE = 200  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A claim that does not hold: where it stands, what it says, and what was found."""

    field: str
    claimed: Any
    observed: Any

    @property
    def sentence(self) -> str:
        """The three parts for people."""
        return f"{self.field} claims {self.claimed!r:.{LONGEST_VALUE}}; {self.observed!r:.{LONGEST_VALUE}} was found"


SemanticCheck = Callable[[Mapping[str, Any], Any, Mapping[str, Any]], Mismatch | None]
"""Input, artifact and evidence of a completed result to the first claim that does not hold. Pure, and total."""

_checks: dict[str, SemanticCheck] = {}


def register_semantic_check(contract: str, check: SemanticCheck) -> None:
    """Have completed results of this output contract (`name/vN`) pass ``check``; a second one replaces the first."""
    _checks[contract] = check


def semantic_check(contract: str) -> SemanticCheck | None:
    """The check of this output contract; None where nothing can be recomputed."""
    return _checks.get(contract)

"""The scope check: which issues a pull request closes, whether a check is due, and what it said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convergence.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?[ \t]+"
    r"(?:(?P<repo>[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100})?#|https?://[^\s/]+/(?P<linked>[^\s/]+/[^\s/]+)/issues/)"
    r"(?P<number>\d{1,10})\b",
    re.IGNORECASE,
)
MOST_DETAIL = 300


@dataclass(frozen=True, slots=True)
class ScopeVerdict:
    """``blocked`` with a reason asks a person; ``unchecked`` says why nothing is known, blank when it is."""

    blocked: bool = False
    reason: str = ""
    unchecked: str = ""

    @property
    def result(self) -> str:
        """The word that the pull request shows."""
        if self.unchecked:
            return "unchecked"
        return "blocked" if self.blocked else "passed"


def closing_references(texts: Iterable[str], repository: str) -> tuple[tuple[str, int], ...]:
    """The issues that closing keywords name, as (``owner/repo``, number), each once in the order of the texts."""
    found: dict[tuple[str, int], None] = {}
    for text in texts:
        for match in CLOSING.finditer(text):
            found[(match["repo"] or match["linked"] or repository, int(match["number"]))] = None
    return tuple(found)


def scope_due(policy: str, closes: int) -> bool:
    """Whether a scope run is due at a gate that passed."""
    return policy == "always" or (policy == "closing" and closes > 0)


def scope_verdict(artifact: Any, *, ruled: str = "") -> ScopeVerdict:
    """Read the classifier's result: only JSON ``true`` with a reason blocks, and not one that a person has ruled on.

    ``ruled`` is the fingerprint of the question that the person answered, blank when nobody did.
    """
    result = artifact if isinstance(artifact, Mapping) else {}
    blocked = result.get("scopeBlocked")
    if not isinstance(blocked, bool):
        return ScopeVerdict(unchecked="the classifier gave no usable answer")
    if not blocked:
        return ScopeVerdict()
    said = result.get("scopeBlockReason")
    reason = said.replace("\0", "\ufffd").strip() if isinstance(said, str) else ""
    if not reason:
        return ScopeVerdict(unchecked="the classifier blocks without a reason")
    if ruled and fingerprint(reason) == ruled:
        return ScopeVerdict()
    return ScopeVerdict(blocked=True, reason=reason)


def scope_missed(state: str, reason_code: str) -> ScopeVerdict:
    """A run that ended without a result, or did not end in time."""
    return ScopeVerdict(unchecked=f"the check ended as {reason_code or state}"[:MOST_DETAIL])

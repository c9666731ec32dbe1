"""The remedies that a look found due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merging.decisions.remedies import Remedy


@dataclass(frozen=True, slots=True)
class Due:
    """A fresh run of the head, and the workflow runs to repeat."""

    fresh: Remedy | None = None
    runs: tuple[str, ...] = ()

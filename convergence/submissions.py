"""What a layer above reads and keeps of a submission: the pull requests that are to merge first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class DependencyPart:
    """Who understands the ``dependsOn`` of a submit.

    ``check(client, facts, references)`` is called before the transaction, may read the forge, and returns what
    ``store(pull, checked, actor=, now=)`` takes within it; it raises ``Invalid`` dependency_invalid, dependency_self or
    dependency_cycle.
    """

    check: Callable[..., Any]
    store: Callable[..., None]


_parts: list[DependencyPart] = []


def register_dependencies(part: DependencyPart) -> None:
    """Make the one part known; a repetition replaces it."""
    _parts[:] = [part]


def dependency_part() -> DependencyPart:
    """The registered part; ``LookupError`` while there is none."""
    if not _parts:
        raise LookupError("nothing has registered to understand dependsOn")
    return _parts[0]

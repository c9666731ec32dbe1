"""Which reviewer adapters exist; a policy that names another is refused by name."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from convergence.reviewers.contract import Reviewer
from convergence.reviewers.copilot import Copilot
from runs.contract.errors import Invalid

ADAPTERS: dict[str, Callable[[str], Reviewer]] = {"copilot": Copilot}
DEFAULT: tuple[Mapping[str, Any], ...] = ({"name": "copilot", "adapter": "copilot"},)
ENTRY_KEYS = frozenset({"name", "adapter"})


def build_reviewers(entries: Iterable[Mapping[str, Any]] = DEFAULT, *, key: str = "reviewers") -> tuple[Reviewer, ...]:
    """Return the reviewers of a policy list; ``Invalid`` ``invalid_field`` names the wrong key below ``key``."""
    built: dict[str, Reviewer] = {}
    for place, entry in enumerate(entries):
        where = f"{key}[{place}]"
        name, adapter = entry.get("name"), entry.get("adapter")
        unknown = sorted(set(entry) - ENTRY_KEYS)
        if unknown:
            raise _wrong(f"{where}.{unknown[0]}", "no such key")
        if not isinstance(name, str) or not name.strip():
            raise _wrong(f"{where}.name", "a name is needed")
        if name in built:
            raise _wrong(f"{where}.name", f"{name!r} stands there twice")
        if adapter not in ADAPTERS:
            raise _wrong(f"{where}.adapter", f"there is no adapter {adapter!r}; choose {', '.join(sorted(ADAPTERS))}")
        built[name] = ADAPTERS[adapter](name)
    return tuple(built.values())


def _wrong(field: str, why: str) -> Invalid:
    return Invalid("invalid_field", f"{field}: {why}", details={"field": field})

"""Read the two files of the policy and check them key by key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from runs.contract.errors import Invalid
from runs.policy.document import Policy
from runs.policy.reviewers import ADAPTERS

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SHIPPED = Path(__file__).resolve().parent.parent.parent / "fixtures" / "policy.yaml"


def policy_read(site: Path) -> Policy:
    """Read and check both files; raises ``Invalid`` naming file and path of the first fault, and the next step."""
    shipped, own = _load(SHIPPED), _load(site) if site.exists() else {}
    merged = {**shipped, **{key: _laid_over(shipped.get(key), value) for key, value in own.items()}}
    try:
        policy = Policy.model_validate(merged)
        for name in policy.repositories:
            policy.merging_for(name)
    except ValidationError as error:
        first = error.errors()[0]
        path = _path(first) or "the file"
        raise Invalid(
            "registry_invalid",
            f"{site.name}: {path}: {first['msg']}. Mend the file, then run: manage.py sync_definitions --check",
            details={"file": site.name, "path": path},
        ) from None
    return policy


def _path(error: ErrorDetails) -> str:
    """The path of the key as it stands in the file: the adapter that chose a reviewer's form is no part of it."""
    parts = list(error["loc"])
    shown = [
        str(part)
        for before, part in zip([None, *parts], parts, strict=False)
        if not (isinstance(before, int) and part in ADAPTERS)
    ]
    if error["type"].startswith("union_tag"):
        shown.append("adapter")
    return ".".join(shown)


def _laid_over(shipped: Any, own: Any) -> Any:
    """Lay the keys of a block over the shipped block; any other value replaces as a whole."""
    if isinstance(shipped, dict) and isinstance(own, dict):
        return {**shipped, **own}
    return own


def _load(path: Path) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, ValueError, OSError, RecursionError) as error:
        text = " ".join(str(error).split())
        raise Invalid(
            "registry_invalid",
            f"{path.name}: {text}. Mend the file, then run: manage.py sync_definitions --check",
            details={"file": path.name},
        ) from None
    if not isinstance(loaded, dict):
        raise Invalid(
            "registry_invalid",
            f"{path.name}: it should hold keys and values. Mend the file, then run: manage.py sync_definitions --check",
            details={"file": path.name},
        )
    return loaded

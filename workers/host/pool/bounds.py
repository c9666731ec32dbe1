"""How many workers this machine wants: a flag, else ``workers`` of its ``policy.yaml``, else the defaults."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs.contract.pool import DEFAULT_COOL_DOWN, DEFAULT_MAX, DEFAULT_MIN, LONGEST_COOL_DOWN, bounds_fault
from workers.host.options import UsageError

POLICY_FILE = "policy.yaml"
KEYS = {"min": DEFAULT_MIN, "max": DEFAULT_MAX, "coolDownSeconds": DEFAULT_COOL_DOWN}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and most workers, and the seconds that an idle one stays without work."""

    min: int
    max: int
    cool_down: int


def read_policy_bounds(home: Path, flag: tuple[int, int] | None) -> Bounds:
    """The bounds of this machine; ``UsageError`` names the key of the file that is wrong."""
    path = home / POLICY_FILE
    said = {**KEYS, **_workers_block(path)}
    cool_down = _number(path, "coolDownSeconds", said)
    if not 0 <= cool_down <= LONGEST_COOL_DOWN:
        raise _wrong(path, f"workers.coolDownSeconds must be 0 to {LONGEST_COOL_DOWN}, not {cool_down}")
    least, most = flag or (_number(path, "min", said), _number(path, "max", said))
    fault = bounds_fault(least, most)
    if fault is not None:
        raise _wrong(path, f"workers.{fault}")
    return Bounds(least, most, cool_down)


def _workers_block(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, OSError, ValueError) as error:
        raise _wrong(path, " ".join(str(error).split())) from error
    block = document.get("workers") if isinstance(document, dict) else None
    if block is None:
        return {}
    if not isinstance(block, dict) or set(block) - set(KEYS):
        raise _wrong(path, f"workers holds {', '.join(KEYS)} and nothing else")
    return block


def _number(path: Path, key: str, said: dict[str, Any]) -> int:
    value = said[key]
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(path, f"workers.{key} must be a whole number, not {value!r}")
    return value


def _wrong(path: Path, sentence: str) -> UsageError:
    return UsageError("policy", f"{path}: {sentence}. Mend the file, then start again: manage.py supervise")

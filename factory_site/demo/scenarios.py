"""Which scenarios are shipped, and what every scenario has to hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent.parent
SIMULATOR = ROOT / "fixtures" / "simulator"
DEFAULT = "demo"
NEEDED = {"repo", "title", "expect"}  # of each pull request


def scenario_names() -> list[str]:
    """The shipped scenarios, the default first."""
    return sorted((path.stem for path in SIMULATOR.glob("*.yaml")), key=lambda name: (name != DEFAULT, name))


def scenario_file(named: str) -> Path:
    """The file of a shipped scenario's name, else the file that is named."""
    return SIMULATOR / f"{named}.yaml" if named in scenario_names() else Path(named)


def scenario_read(scenario: Path) -> Mapping[str, Any]:
    """The scenario as it stands in its file; what else it may say is the simulated GitHub's to check.

    Raises ``Invalid`` with one line when it is no YAML, lacks what every scenario has, or orders unknown branches.
    """
    try:
        script = yaml.safe_load(scenario.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Invalid("scenario_invalid", f"{scenario}: {' '.join(str(error).split())}") from None
    whole = isinstance(script, dict) and script.get("repositories") and script.get("pulls")
    if not whole or not all(set(pull) >= NEEDED for pull in script["pulls"]):
        raise Invalid(
            "scenario_invalid", f"{scenario}: it needs repositories, and pulls with {', '.join(sorted(NEEDED))}"
        )
    unknown = set(script.get("lands_in_order", [])) - {pull.get("branch") for pull in script["pulls"]}
    if unknown:
        raise Invalid("scenario_invalid", f"{scenario}: lands_in_order names no branch of its: {min(unknown)}")
    return dict(script)


def policy_lay(home: Path, script: Mapping[str, Any]) -> None:
    """Lay the scenario's own policy, where it has one, over the shipped one, as a person would."""
    if script.get("policy"):
        (home / "policy.yaml").write_text(yaml.safe_dump(script["policy"]), encoding="utf-8")

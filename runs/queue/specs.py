"""What a claim needs to know of the run that it leases, read when that run is chosen and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.models import Prompt, RunSpec
from runs.rows.direct import row_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runs.models import Run

TOLD = """
SELECT s.canonical, (SELECT p.current_hash FROM runs_prompt AS p WHERE p.name = %s)
FROM runs_runspec AS s WHERE s.run_id = %s
"""


def spec_and_prompt(run: Run, definition: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The specification, and the hash of the prompt that an attempt gets now: the pinned one, else the live version.

    The hash is blank without a prompt. From then on the loaded run has its row (``spec_row``). One statement. Raises
    DoesNotExist where the specification or the live prompt is missing.
    """
    name = (definition.get("prompt") or {}).get("name", "")
    found = row_of(TOLD, [name, run.pk])
    if found is None:
        raise RunSpec.DoesNotExist(f"{run.run_id} has no specification")
    row = RunSpec(run_id=run.pk, canonical=found[0])
    row.run = run
    spec = row.document
    pinned = str(spec.get("promptHash", ""))
    if pinned or not name:
        return spec, pinned
    if found[1] is None:
        raise Prompt.DoesNotExist(f"no prompt {name} is stored")
    return spec, str(found[1])

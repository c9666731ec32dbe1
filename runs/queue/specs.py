"""The specification of a run, read when something of it is needed and not while runs are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.models import RunSpec
from runs.rows import row_find

if TYPE_CHECKING:
    from runs.models import Run


def spec_of(run: Run) -> dict[str, Any]:
    """The document; from then on the loaded run has its row (``spec_row``). Raises DoesNotExist without one."""
    row = row_find(RunSpec, run_id=run.pk)
    if row is None:
        raise RunSpec.DoesNotExist(f"{run.run_id} has no specification")
    row.run = run
    return row.document

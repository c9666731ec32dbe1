"""Whether an effect is still wanted, asked immediately before its write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merging.models import MergeFlow

if TYPE_CHECKING:
    from runs.flows.registry import EffectCall

DROPPED = {"dropped": "moved_on"}


def asked_row(call: EffectCall, state: str) -> MergeFlow | None:
    """The row if it is still in the state, version and generation that asked for this effect."""
    row = newest_row(call)
    return row if row is not None and row.state == state and row.entry_log == call.log else None


def newest_row(call: EffectCall) -> MergeFlow | None:
    """The row if its generation is still the newest of its pull request."""
    row = MergeFlow.rows().select_related("pull__repository").get(pk=call.row.pk)
    return row if row.generation == call.generation == row.pull.generation else None


def still_asked(call: EffectCall, row: MergeFlow, state: str) -> bool:
    """Lock the row and see it as it is now; a look may have been faster."""
    current = MergeFlow.rows().select_for_update().get(pk=row.pk)
    row.version, row.state, row.entry_log = current.version, current.state, current.entry_log
    return row.state == state and row.entry_log == call.log

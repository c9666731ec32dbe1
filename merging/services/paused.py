"""Going on after a pause: whoever it held looks at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merging.flow import MERGE_MACHINE
from runs.flows.looks import flow_wake
from runs.models import PauseScope

if TYPE_CHECKING:
    from runs.models import Pause

HELD_BY_PAUSE = "paused"


def paused_wake(pause: Pause) -> int:
    """Have the ready merges that a lifted pause held look now; return how many."""
    if pause.scope == PauseScope.AGENT:
        return 0
    which = {"held_reason": HELD_BY_PAUSE}
    if pause.scope == PauseScope.REPOSITORY:
        owner, _, name = pause.key.partition("/")
        which |= {"pull__repository__owner__iexact": owner, "pull__repository__name__iexact": name}
    return flow_wake(MERGE_MACHINE.name, **which)

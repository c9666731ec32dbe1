"""Which limit keeps a queued run waiting, told for many runs from a few reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runs.clock import now
from runs.flow import RunState
from runs.models import Hold, Pause, SpendScope
from runs.policy import policy
from runs.queue.limits.balance import Balance, Limit, limit_of
from runs.queue.limits.blocking import BlockCode
from runs.queue.limits.budgets import balances, run_limit
from runs.queue.limits.sentences import budget_sentence, cap_sentence, next_day, pause_sentence
from runs.queue.limits.standing import standing_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from runs.models import Run
    from runs.queue.limits.blocking import Block, Standing
    from runs.queue.limits.budgets import Key

SCOPES = {Hold.SUBJECT_BUDGET: SpendScope.SUBJECT, Hold.RUN_BUDGET: SpendScope.RUN}


@dataclass(frozen=True, slots=True)
class Told:
    """One reason: its code, its sentence, and the instant at which it ends by itself, if there is one."""

    code: str
    text: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class LimitsSeen:
    """What stands now, the pauses in full, and the balances of the budgets that hold runs."""

    at: datetime
    standing: Standing
    pauses: Mapping[int, Pause] = field(default_factory=dict)
    held: Mapping[Key, Balance] = field(default_factory=dict)

    def blocks(self, run: Run, nodes: Iterable[str]) -> Told | None:
        """What blocks the class of this run, on every one of the nodes that could take it; None when nothing does."""
        row = run.placement_class
        if row is None:
            return None
        found = self.standing.block_of(row, "")
        if found is None:
            on_nodes = [self.standing.block_of(row, node) for node in sorted(set(nodes))]
            found = on_nodes[0] if on_nodes and None not in on_nodes else None
        return None if found is None else self._told(found)

    def holds(self, run: Run) -> Told:
        """Why the run carries the hold of a budget."""
        scope = SCOPES[Hold(run.hold)]
        key, label = (run.run_id, run.run_id) if scope == SpendScope.RUN else (run.subject, run.subject_label)
        balance = self.held.get((str(scope), key), Balance(Limit()))
        return Told(run.hold, budget_sentence(scope, label or key, balance))

    def _told(self, block: Block) -> Told:
        if block.pause is not None:
            pause = self.pauses.get(block.pause.pk)
            text = pause_sentence(pause) if pause else "a pause was lifted this moment"
            return Told(block.code, text, pause.until if pause else None)
        if block.cap is not None:
            return Told(block.code, cap_sentence(block.cap, block.used))
        day = self.standing.day or Balance(Limit())
        return Told(BlockCode.DAY_BUDGET, budget_sentence(SpendScope.DAY, "", day), next_day(self.at))


def limits_seen(runs: Iterable[Run]) -> LimitsSeen | None:
    """What has to be known of limits to say why these runs wait; None, without a read, when none is queued.

    One statement, one more where anything is paused, and one where a budget holds any of the runs.
    """
    queued = [run for run in runs if run.state == RunState.QUEUED]
    if not queued:
        return None
    at = now()
    standing = standing_now(at=at)
    pauses = Pause.objects.in_bulk([each.pk for each in standing.pauses]) if standing.pauses else {}
    wanted: dict[Key, Limit] = {}
    for run in queued:
        if run.hold == Hold.SUBJECT_BUDGET:
            wanted[(str(SpendScope.SUBJECT), run.subject)] = limit_of(policy().budgets.per_subject)
        elif run.hold == Hold.RUN_BUDGET:
            wanted[(str(SpendScope.RUN), run.run_id)] = run_limit(run)
    return LimitsSeen(at, standing, pauses, balances(wanted))

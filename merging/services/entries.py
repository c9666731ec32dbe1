"""What entering a state means for the row: columns, the next look, the state's timer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from merging.decisions.timing import EFFECT_LIMIT, LANDING_LIMIT, LANDING_LOOKS
from merging.flow import AGENT_STATES, EFFECT_STATES, MergeState
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from merging.models import MergeFlow

S = MergeState
ARMED: Mapping[str, Any] = {  # a wait that begins anew; budgets are kept
    "stalls": 0,
    "stall_mark": "",
    "reconciled": False,
    "agent_question": "",
    "blocked_head": "",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Columns, next look (None: at once) and timer (None: none is armed) of a state that is entered."""

    columns: Mapping[str, Any] = field(default_factory=dict)
    due_at: datetime | None = None
    timer_at: datetime | None = None


def entry_of(row: MergeFlow, target: str, now: datetime) -> Entry:
    """Return what entering ``target`` means; the SLA of an agent state is armed once its run is claimed."""
    config = settings.FACTORY
    poll = timedelta(seconds=config.poll_seconds)
    if target == S.WAITING_MERGE:
        return Entry({**ARMED, "stall_since": now}, timer_at=now + config.mergeable_wait_timeout)
    if target == S.REPOLLING:
        pause = config.mergeable_repoll_interval
        return Entry({"stalls": row.stalls + 1, "stall_since": now}, now + min(pause, poll), now + pause)
    if target in EFFECT_STATES:
        return Entry({"retry_at": None}, now + EFFECT_LIMIT, now + EFFECT_LIMIT)
    if target in {S.WAITING_LANE, *AGENT_STATES}:
        return Entry({}, due_at=now + poll)
    if target == S.QUEUED:
        limit = policy().merging_for(row.pull.repository.full_name).queue_timeout
        return Entry({"queue_failed_head": "", "queue_failed_sha": ""}, now + poll, now + limit)
    if target == S.VERIFYING_LANDING:
        return Entry({}, now + timedelta(seconds=LANDING_LOOKS[0]), now + LANDING_LIMIT)
    if target == S.ESCALATED:
        asked = {
            "asked_verdict": row.verdict,
            "asked_head": row.verdict_head or row.pull.head_sha,
            "asked_base_sha": row.verdict_base_sha,
        }
        return Entry(asked, due_at=now + poll)
    return Entry()

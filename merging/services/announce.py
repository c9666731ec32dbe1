"""Telling of a landing: one event for each generation, merges by people included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.models import PullRequestGeneration
from merging.flow import MERGE_MACHINE
from runs.flows.move import flow_actor
from runs.outbox.write import outbox_add

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.models import PullRequest
    from merging.models import MergeFlow

MERGED_EVENT = "factory.pull-request.merged"


def landing_announce(row: MergeFlow, pull: PullRequest, now: datetime) -> None:
    """Publish the landing once for each generation; its key is the event's id."""
    key = f"{flow_actor(MERGE_MACHINE, row.subject)}:g{row.generation}:{MERGED_EVENT}"
    landed = row.attempts.filter(outcome="merged").order_by("-id").first()
    generation = PullRequestGeneration.objects.filter(pull_id=row.pull_id, number=row.generation).first()
    outbox_add(
        topic="flow.event",
        key=key,
        stream=f"event:{row.subject}",  # of its own: effects of the subject never wait for the intake
        payload={
            "type": MERGED_EVENT,
            "source": "flow",
            "eventId": key,
            "subject": row.subject,
            "occurredAt": now.isoformat(),
            "correlationId": generation.correlation_id if generation else "",
            "payload": {
                "prKey": pull.key,
                "generation": row.generation,
                "landedSha": row.landed_sha,
                "headSha": landed.expected_head if landed else "",
                "baseRef": row.base_ref,
                "method": landed.method if landed else "",
                "actor": landed.actor if landed else "",
            },
        },
    )

"""Asking reviewers for a review of the head, in their windows, each request under a key of its own."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from convergence.decisions.reviews import asked_before, head_unreviewed
from convergence.decisions.schedule import Asked, nudge_opens
from convergence.looks.judging.reviews import requestable_reviewers
from convergence.models import ReviewRequest
from convergence.reviewers.contract import Pending
from runs.flows.move import EFFECT_TOPIC
from runs.outbox.write import outbox_add

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.looks.scene import Scene

EFFECT = "request_review"


def nudges_open(scene: Scene) -> Mapping[str, datetime | None]:
    """The reviewers who are to be asked, each with the instant from which they may be (None: at once).

    Nobody when the head is unknown or the forge was not read. A head that every round has been given the review of is
    reviewed anew, unless the gate alone sent the flow here for a person: trusted people who asked for changes on an
    older head are asked once for each head.
    """
    snapshot = scene.watch or scene.facts
    if not scene.open or snapshot is None or not scene.head:
        return {}
    asked: dict[str, list[Asked]] = {}
    for request in ReviewRequest.objects.filter(pull=scene.pull):
        asked.setdefault(request.reviewer, []).append(Asked(request.head, request.asked_at, request.outcome))
    opens: dict[str, datetime | None] = {}
    if head_unreviewed(scene.reviews, scene.head) or not scene.row.stale:
        able = requestable_reviewers(scene)
        window = timedelta(minutes=settings.FACTORY.review_nudge_minutes)
        for reviewer in scene.people.reviewers:
            if reviewer.name not in able or reviewer.pending(snapshot) is Pending.YES:
                continue
            if reviewer.request(snapshot, 1) is None:
                continue  # it reviews by itself
            opens[reviewer.name] = nudge_opens(asked.get(reviewer.name, ()), head=scene.head, window=window)
    for review in asked_before(scene.reviews, scene.head):
        if not any(each.head == scene.head for each in asked.get(review.author, ())):
            opens[review.author] = None
    return opens


def nudge_add(scene: Scene, reviewer: str) -> None:
    """Ask one reviewer through the outbox, in the caller's transaction; the same request again adds nothing."""
    row, pull = scene.row, scene.pull
    head = scene.head or ""
    earlier = ReviewRequest.objects.filter(pull=pull, generation=row.generation, reviewer=reviewer, head=head).count()
    key = f"{pull.subject}:g{row.generation}:{head}:{reviewer}:{earlier + 1}"
    request, created = ReviewRequest.objects.get_or_create(
        key=key,
        defaults={
            "pull": pull,
            "generation": row.generation,
            "reviewer": reviewer,
            "head": head,
            "number": earlier + 1,
            "asked_at": scene.now,
        },
    )
    if created:
        outbox_add(
            topic=EFFECT_TOPIC,
            key=key,
            stream=row.subject,
            payload={
                "flow": row.machine.name,
                "row": row.pk,
                "generation": row.generation,
                "log": row.entry_log,
                "effect": EFFECT,
                "arguments": {"request": request.pk},
            },
        )

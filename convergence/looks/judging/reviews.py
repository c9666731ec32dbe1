"""The facts of the review wait and of the gate: what reviewers said about the head, and what is left open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import Q

from convergence.decisions.gate import GateFacts, GateVerdict, gate_judge
from convergence.decisions.reviews import fresh_reviews, only_empty, stale_cause
from convergence.decisions.schedule import EFFECT_PATIENCE
from convergence.decisions.scope import scope_due
from convergence.guards import Facts, Gate
from convergence.looks.judging.judged import Judged
from convergence.looks.scope import scope_facts
from convergence.models import ReviewerStatus
from runs.contract.errors import FactoryError
from runs.flows.move import EFFECT_TOPIC
from runs.models.outbox import Outbox
from runs.outbox.dispatch import PENDING
from runs.policy import policy

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.decisions.advisories import Advised
    from convergence.looks.scene import Scene
    from convergence.looks.scope import ScopeFacts

FOR_GOOD = frozenset({"forge_forbidden", "forge_gone", "answer_too_large"})  # reading again will not help
OWN_WORDS = frozenset({"reply", "resolve", "acknowledge"})  # effects that change what a look would find open


def requestable_reviewers(scene: Scene) -> tuple[str, ...]:
    """Names of the configured reviewers that the forge has not refused to request here."""
    refused = set(
        ReviewerStatus.objects.filter(repository=scene.pull.repository, unavailable_until__gt=scene.now).values_list(
            "reviewer", flat=True
        )
    )
    return tuple(each.name for each in scene.people.reviewers if each.name not in refused)


def reviewers_back_at(scene: Scene) -> datetime | None:
    """When the first of the reviewers that the forge refused may be asked again; None when none is refused."""
    refused = ReviewerStatus.objects.filter(repository=scene.pull.repository, unavailable_until__gt=scene.now)
    return refused.order_by("unavailable_until").values_list("unavailable_until", flat=True).first()


def advisories_left(scene: Scene) -> tuple[Advised, ...]:
    """The suppressed advisories of the generation that nobody acknowledged."""
    return tuple(each for each in scene.advisories.every if not each.acknowledged)


def wait_facts(scene: Scene, shared: Facts) -> Judged:
    """Whether a review came that calls for something, and whether one can still come."""
    current = policy().convergence
    fresh = fresh_reviews(scene.reviews, head=scene.head, threads=scene.threads) if scene.open else ()
    empty = current.skip_empty_review and only_empty(
        fresh, scene.reviews, scene.threads, complete=scene.complete, advisories=len(advisories_left(scene))
    )
    timer = scene.row.timer_at
    if fresh and _own_words_leaving(scene):
        # The threads that they answer and resolve would be given to the next turn as if they were open.
        return Judged(shared, effects_pending=True, timer_at=timer)
    moved = scene.head is not None and scene.head != scene.row.waiting_head  # a new head waits anew
    facts = replace(
        shared,
        fresh=bool(fresh),
        only_empty=empty,
        stale_cause=bool(stale_cause(scene.reviews, scene.head, scene.waived)),
        requestable=bool(requestable_reviewers(scene)),
        proceed_without_reviewer=current.on_reviewer_unavailable == "proceed",
        timer_passed=timer is not None and timer <= scene.now and not moved,
    )
    return Judged(facts, fresh=fresh, timer_at=timer)


def gate_facts(scene: Scene, shared: Facts) -> Judged:
    """What the gate says, and whether a scope run is due where it passes."""
    timer = scene.row.timer_at
    if _own_words_leaving(scene):
        return Judged(shared, effects_pending=True, timer_at=timer)
    verdict, closing = _gate(scene)
    if verdict is None:
        return Judged(shared, effects_pending=True, timer_at=timer)
    due = scope_due(policy().convergence.scope_check, closing.closes if closing else 0)
    facts = replace(
        shared,
        gate=verdict.result,
        gate_for_good=verdict.result is Gate.UNREADABLE and verdict.for_good,
        scope_due=due,
        timer_passed=timer is not None and timer <= scene.now,
    )
    return Judged(facts, gate=verdict, closing=closing, timer_at=timer)


def _gate(scene: Scene) -> tuple[GateVerdict | None, ScopeFacts | None]:
    """The verdict with what it read about closed issues; no verdict where the head moved between two readings."""
    verdict = gate_verdict(scene)
    if verdict.result is not Gate.OK or policy().convergence.scope_check == "never":
        return verdict, None
    try:
        closing = scope_facts(scene)
    except FactoryError as error:
        reason = f"what it closes could not be read ({error.code})"
        return GateVerdict(Gate.UNREADABLE, reason, error.code in FOR_GOOD), None
    if scene.head is not None and closing.head != scene.head:
        return None, None
    return verdict, closing


def gate_verdict(scene: Scene) -> GateVerdict:
    """What the gate says of the reviews and threads that were read."""
    unreadable, for_good = _unreadable(scene)
    return gate_judge(
        GateFacts(
            head=scene.head,
            reviews=scene.reviews,
            threads=scene.threads,
            advisories=tuple(each for each in scene.advisories.judged if not each.acknowledged),
            waived=scene.waived,
            requestable=bool(requestable_reviewers(scene)),
            unreadable=unreadable,
            for_good=for_good,
        )
    )


def _own_words_leaving(scene: Scene) -> bool:
    """Whether what was read may lack the product's own words on this subject, for as long as patience lasts.

    It does while they wait to be posted, and when they were posted after the reading began.
    """
    if scene.now - scene.row.entered_at >= EFFECT_PATIENCE:
        return False
    unread = PENDING | Q(done_at__gte=scene.read_from)
    leaving = Outbox.objects.filter(unread, topic=EFFECT_TOPIC, stream=scene.row.subject)
    return any(row.payload["effect"] in OWN_WORDS for row in leaving)


def _unreadable(scene: Scene) -> tuple[str, bool]:
    """What the gate could not read, and whether reading again will not help."""
    if scene.facts is None:
        error = scene.error
        if error is None:
            return "not read", False
        if error.code in FOR_GOOD:
            return f"{error.code}: {error.message}"[:200], True
        return error.code, False  # the words of a passing cause differ from look to look
    if scene.facts.reviews is None or scene.facts.threads is None:
        return "reviews and threads were not read", False
    for name, listing in (("reviews", scene.facts.reviews), ("threads", scene.facts.threads)):
        if not listing.complete:
            return f"{len(listing.items)} of {listing.total} {name} could be read", True
    if scene.advisories.unreadable:
        return scene.advisories.unreadable, True
    return "", False

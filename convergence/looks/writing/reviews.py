"""What the edges of the review wait, of the gate and of the scope check write."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convergence.decisions.reviews import changes_requested
from convergence.looks.deadlines import review_deadline
from convergence.looks.scope import scope_request
from convergence.models import PullRequestGeneration
from convergence.services.move import Step
from convergence.services.reviews import reviews_consumed
from convergence.services.rounds import gate_checked

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.looks.judging.judged import Judged
    from convergence.looks.scene import Scene


def empty_review(scene: Scene, judged: Judged) -> Step:
    """Only empty reviews came: they are consumed without a round, and the gate looks."""
    row = scene.row
    fresh = [review.forge_id for review in judged.fresh]
    reviews_consumed(scene.pull, fresh, generation=row.generation, round_number=row.round)
    return Step(columns={"stale": False}, timer_at=review_deadline(scene.now), guards={"reviews": fresh})


def review(scene: Scene, judged: Judged) -> Step:
    """A review begins the next round."""
    return Step(
        columns={"round": scene.row.round + 1, "turn": 0, "stale": False, "waiting_since": None},
        guards={"reviews": [review.forge_id for review in judged.fresh]},
    )


def to_gate(scene: Scene, judged: Judged) -> Step:
    """The wait is over without a review to work."""
    del judged
    return Step(columns={"stale": False}, timer_at=review_deadline(scene.now))


def gate_noted(scene: Scene, judged: Judged, *, edge: bool) -> None:
    """Record what the gate read and said; a look that moves nothing adds a row only for another answer."""
    if judged.gate is not None:
        gate_checked(
            scene.row,
            judged.gate,
            head=scene.head,
            counts=_counts(scene),
            waived=len(scene.waived),
            now=scene.now,
            edge=edge,
        )


def _counts(scene: Scene) -> dict[str, int]:
    """What the gate counted."""
    facts = scene.facts
    judged = scene.advisories.judged
    return {
        "reviews": facts.reviews.total if facts and facts.reviews else 0,
        "threads": facts.threads.total if facts and facts.threads else 0,
        "openThreads": sum(1 for thread in scene.threads if not thread.is_ack),
        "ackThreads": sum(1 for thread in scene.threads if thread.is_ack),
        "changesRequested": len(changes_requested(scene.reviews)),
        "advisories": len(judged),
        "unacknowledged": sum(1 for each in judged if not each.acknowledged),
    }


def gate_passed(scene: Scene, judged: Judged) -> Step:
    """Nothing is open, and no scope run is due."""
    gate_noted(scene, judged, edge=True)
    return Step(columns={"gate_head": scene.head or "", "scope_ruling": None})


def scope_asked(scene: Scene, judged: Judged) -> Step:
    """Nothing is open; a classifier is asked whether what is closed was delivered."""
    gate_noted(scene, judged, edge=True)
    return Step(columns={"gate_head": scene.head or ""}, run=_asked_with(scene, judged))


def _asked_with(scene: Scene, judged: Judged) -> Callable[[int], Any]:
    if judged.closing is None:
        raise RuntimeError("a scope run is due only where what it is asked with was read")
    before = scope_request(scene, judged.closing, 0)
    return lambda entry: replace(before, flow=replace(before.flow, entry=entry))


def gate_stale(scene: Scene, judged: Judged) -> Step:
    """The head needs a review."""
    gate_noted(scene, judged, edge=True)
    waiting = {"waiting_since": scene.now, "waiting_head": scene.head or "", "stale": True}
    return Step(columns=waiting, timer_at=review_deadline(scene.now))


def gate_asks(scene: Scene, judged: Judged) -> Step:
    """A person is asked about what the gate found."""
    gate_noted(scene, judged, edge=True)
    return Step()


def ack_repeated(scene: Scene, judged: Judged) -> Step:
    """Only paperwork is left: the agent is told which, in the same round."""
    gate_noted(scene, judged, edge=True)
    left = {name: list(ids) for name, ids in judged.gate.left.items()} if judged.gate else {}
    retries = scene.row.ack_retries + 1
    return Step(
        columns={"ack_retries": retries, "gate_left": left, "stale": False},
        guards={"ackRetries": retries},
    )


def ack_budget_spent(scene: Scene, judged: Judged) -> Step:
    """The paperwork is left undone too often."""
    gate_noted(scene, judged, edge=True)
    retries = scene.row.ack_retries + 1
    return Step(columns={"ack_retries": retries}, guards={"ackRetries": retries})


def scope_outdated(scene: Scene, judged: Judged) -> Step:
    """Somebody pushed meanwhile: what the classifier says is about another head."""
    del judged
    return Step(timer_at=review_deadline(scene.now), guards={"gateHead": scene.row.gate_head})


def scope_blocked(scene: Scene, judged: Judged) -> Step:
    """The classifier names something that is left undelivered."""
    _scope_told(scene, judged)
    return Step(guards={"scope": judged.scope.result})


def scope_passed(scene: Scene, judged: Judged) -> Step:
    """Delivered, ruled upon, or not to be known."""
    _scope_told(scene, judged)
    return Step(columns={"scope_ruling": None}, guards={"scope": judged.scope.result}, note=judged.scope.unchecked)


def _scope_told(scene: Scene, judged: Judged) -> None:
    PullRequestGeneration.objects.filter(pull=scene.pull, number=scene.row.generation).update(
        scope_result=judged.scope.result, scope_detail=(judged.scope.unchecked or judged.scope.reason)[:300]
    )

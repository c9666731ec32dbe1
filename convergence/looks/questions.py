"""The question of each edge that asks a person, filled with what is known at that moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from convergence import texts
from convergence.decisions.reviews import changes_requested
from convergence.decisions.schedule import agent_time
from convergence.models import ReviewerStatus, ReviewRequest
from runs.models import Attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from convergence.looks.facts import Judged
    from convergence.looks.scene import Scene
    from convergence.texts import Question

MOST_LISTED = 30


def question_of(reason: str, scene: Scene, judged: Judged) -> Question:
    """The question of this reason; never blank."""
    return _QUESTIONS[reason](scene, judged)


def _asked(scene: Scene, judged: Judged) -> Question:
    run = judged.facts.run
    text = run.question if run else ""
    reason = "blocked" if run and run.status == "blocked" and not run.asks_human else "needs_input"
    return texts.agent_question(scene.place, reason, text, judged.verdict.summary)


def _round_cap(scene: Scene, judged: Judged) -> Question:
    del judged
    backlog = scene.turn.backlog if scene.turn else {}
    return texts.round_cap(scene.place, [str(thread.get("url", "")) for thread in backlog.get("threads", [])])


def _no_advance(scene: Scene, judged: Judged) -> Question:
    del judged
    return texts.no_advance(scene.place, scene.turn.raw_status if scene.turn else "", attempts_told(scene))


def _husk_exhausted(scene: Scene, judged: Judged) -> Question:
    del judged
    return texts.husk_exhausted(scene.place, attempts_told(scene))


def attempts_told(scene: Scene) -> Iterable[str]:
    """Each attempt of this turn's run in a line: worker, reason, duration."""
    if scene.run is None:
        return
    for attempt in Attempt.objects.filter(run=scene.run).order_by("id")[:MOST_LISTED]:
        begun = attempt.started_at or attempt.claimed_at
        took = f" after {round((attempt.finished_at - begun).total_seconds())} s" if attempt.finished_at else ""
        yield f"{attempt.worker_id}: {attempt.reason_code or attempt.outcome or 'unfinished'}{took}"


def _review_stalled(scene: Scene, judged: Judged) -> Question:
    del judged
    waited = scene.now - (scene.row.waiting_since or scene.row.entered_at)
    requests = ReviewRequest.objects.filter(pull=scene.pull, generation=scene.row.generation).order_by("id")
    return texts.review_stalled(
        scene.place,
        [each.name for each in scene.people.reviewers],
        [
            f"{request.asked_at:%H:%M:%S} UTC, {request.reviewer}: {request.outcome or 'not observed yet'}"
            for request in requests[:MOST_LISTED]
        ],
        f"{max(1, round(waited.total_seconds() / 60))} min",
    )


def _reviewer_unavailable(scene: Scene, judged: Judged) -> Question:
    del judged
    marks = ReviewerStatus.objects.filter(repository=scene.pull.repository, unavailable_until__gt=scene.now)
    return texts.reviewer_unavailable(scene.place, [f"{mark.reviewer}: {mark.detail}" for mark in marks])


def _unaddressed(scene: Scene, judged: Judged) -> Question:
    del judged
    items = [f"open thread {thread.where} by {thread.author}: {thread.url}" for thread in scene.threads]
    items += [f"changes requested by {review.author}" for review in changes_requested(scene.reviews)]
    return texts.unaddressed_comments(scene.place, items[:MOST_LISTED])


def _unverifiable(scene: Scene, judged: Judged) -> Question:
    return texts.gate_unverifiable(scene.place, judged.gate.reason if judged.gate else "not read")


def _agent_sla(scene: Scene, judged: Judged) -> Question:
    del judged
    run, attempt = scene.run, scene.attempt
    since = f"{run.first_claimed_at:%Y-%m-%d %H:%M:%S} UTC" if run and run.first_claimed_at else "an unknown time"
    limit = agent_time(settings.FACTORY.agent_sla_timeout, run.extended_seconds if run else 0)
    return texts.agent_sla(scene.place, attempt.worker_id if attempt else "", f"{since} (limit {limit})")


def _run_refused(scene: Scene, judged: Judged) -> Question:
    del judged
    detail = scene.attempt.detail_json if scene.attempt and scene.attempt.detail_json != "{}" else ""
    return texts.run_refused(scene.place, scene.run.reason_code if scene.run else "", detail[:500])


def _run_cancelled(scene: Scene, judged: Judged) -> Question:
    del judged
    last = scene.run.journal.order_by("-seq").first() if scene.run else None
    return texts.run_cancelled(scene.place, last.actor.removeprefix("operator:") if last else "")


def _unreachable(scene: Scene, judged: Judged) -> Question:
    del judged
    told = scene.error.message if scene.error else "the head branch is gone"
    return texts.unreachable(scene.place, told)


_QUESTIONS: dict[str, Callable[[Scene, Judged], Question]] = {
    "needs_input": _asked,
    "blocked": _asked,
    "round_cap": _round_cap,
    "no_advance": _no_advance,
    "husk_exhausted": _husk_exhausted,
    "review_stalled": _review_stalled,
    "reviewer_unavailable": _reviewer_unavailable,
    "unaddressed_comments": _unaddressed,
    "gate_unverifiable": _unverifiable,
    "agent_sla": _agent_sla,
    "run_refused": _run_refused,
    "run_cancelled": _run_cancelled,
    "unreachable": _unreachable,
}

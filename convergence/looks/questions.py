"""The question of each edge that asks a person, filled with what is known at that moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from convergence import texts
from convergence.decisions.reviews import changes_requested
from convergence.decisions.schedule import agent_time
from convergence.models import ReviewerStatus, ReviewRequest
from convergence.services.findings import entries_of
from convergence.services.memory import answer_given
from runs.models import Attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from convergence.looks.judging.judged import Judged
    from convergence.looks.scene import Scene
    from convergence.texts import Question

MOST_LISTED = 30
ROOM = 6_000  # characters of a listing; a task's context holds 8 KiB
MOST_SHOWN = 120  # characters of one finding
THE_HEAD = (("head", ""),)  # what is let pass is that nobody reviewed it


def question_of(reason: str, scene: Scene, judged: Judged) -> Question:
    """The question of this reason; never blank."""
    return _QUESTIONS[reason](scene, judged)


def agent_asked(scene: Scene, judged: Judged) -> Question:
    """What the agent asks, in its own words."""
    run = judged.facts.run
    text = run.question if run else ""
    reason = "blocked" if run and run.status == "blocked" and not run.asks_human else "needs_input"
    return _given_before(scene, texts.agent_question(scene.place, reason, text, judged.verdict.summary))


def scope_asked(scene: Scene, judged: Judged) -> Question:
    """What the classifier says is left undelivered, in its own words."""
    return _given_before(scene, texts.scope(scene.place, judged.scope.reason))


def _given_before(scene: Scene, question: Question) -> Question:
    """The question, with the answer that this round has been given already if there is one."""
    given = answer_given(scene.row, question.text)
    if given is None:
        return question
    who, answer = given.task.answered_by.removeprefix("operator:"), str(given.task.variables.get("answer", ""))
    return texts.given_before(question, who, answer)


def _asked_anew(scene: Scene, judged: Judged) -> Question:
    used = judged.escalation
    if used is None:
        raise RuntimeError("only an answer that was given can be taken back")
    gave, took = (who.removeprefix("operator:") for who in (used.task.answered_by, used.reverted_by))
    taken_back = f"{took} took the answer of {gave} back."
    return texts.asked_anew(scene.place, used.reason, used.text, taken_back)


def _round_cap(scene: Scene, judged: Judged) -> Question:
    del judged
    backlog = scene.turn.backlog if scene.turn else {}
    urls = [str(thread.get("url", "")) for thread in backlog.get("threads", [])]
    return texts.round_cap(scene.place, urls[:MOST_LISTED], _rounds_told(scene))


def _churn(scene: Scene, judged: Judged) -> Question:
    churn = judged.churn
    point = churn.point.text if churn and churn.point else ""
    return texts.churn(scene.place, churn.reason if churn else "", _rounds_told(scene), point)


def _rounds_told(scene: Scene) -> list[str]:
    """The trajectory of findings, one round a line."""
    return [
        f"round {each.round}: {each.open} open ({each.new} new, {each.repeat} still open, {each.reopened} reopened), "
        f"{each.gone} closed"
        for each in entries_of(scene.pull, scene.row.generation)[-MOST_LISTED:]
    ]


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
        THE_HEAD,
    )


def _reviewer_unavailable(scene: Scene, judged: Judged) -> Question:
    del judged
    marks = ReviewerStatus.objects.filter(repository=scene.pull.repository, unavailable_until__gt=scene.now)
    return texts.reviewer_unavailable(scene.place, [f"{mark.reviewer}: {mark.detail}" for mark in marks], THE_HEAD)


def _unaddressed(scene: Scene, judged: Judged) -> Question:
    left = judged.gate.left if judged.gate else {}
    open_ones, asking = set(left.get("threads", ())), set(left.get("reviews", ()))
    listed = [
        (f"open thread {thread.where} by {thread.author}: {thread.url}", ("thread", thread.id))
        for thread in scene.threads
        if thread.id in open_ones
    ]
    listed += [
        (
            f"changes requested by {review.author}: {scene.pull.url}#pullrequestreview-{review.forge_id}",
            ("review", review.forge_id),
        )
        for review in changes_requested(scene.reviews)
        if review.forge_id in asking
    ]
    items, waives = _shown(listed)
    return texts.unaddressed_comments(scene.place, items, waives)


def _ack_budget_spent(scene: Scene, judged: Judged) -> Question:
    left = judged.gate.left if judged.gate else {}
    ids, open_acks = set(left.get("advisories", ())), set(left.get("ackThreads", ()))
    listed = [
        (f"{each.path}: {_shortened(each.text)} (by {each.reviewer}, id {each.id})", ("advisory", each.id))
        for each in scene.advisories.judged
        if each.id in ids
    ]
    listed += [
        (f"open acknowledgement {thread.where}: {thread.url}", ("thread", thread.id))
        for thread in scene.threads
        if thread.id in open_acks
    ]
    items, waives = _shown(listed)
    return texts.ack_budget_spent(scene.place, items, scene.row.ack_retries, waives)


def _shown(listed: Sequence[tuple[str, tuple[str, str]]]) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """The lines that find room in a task, and what they name: an answer lets nothing pass that was not shown."""
    room, items, waives = ROOM, [], []
    for line, target in listed[:MOST_LISTED]:
        room -= len(line)
        if room < 0:
            break
        items.append(line)
        waives.append(target)
    return items, tuple(waives)


def _shortened(text: str) -> str:
    """The first words of an outside text, on one line."""
    words = " ".join(text.split())
    return words if len(words) <= MOST_SHOWN else f"{words[: MOST_SHOWN - 1]}…"


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
    "answer_reverted": _asked_anew,
    "needs_input": agent_asked,
    "blocked": agent_asked,
    "churn": _churn,
    "scope": scope_asked,
    "ack_budget_spent": _ack_budget_spent,
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

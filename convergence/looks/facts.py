"""From what a look gathered to the facts that the guards of the table decide on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Q

from convergence.backlog import thread_ids
from convergence.decisions.agent_result import AgentVerdict, agent_verdict
from convergence.decisions.attempts import attempt_word
from convergence.decisions.gate import GateFacts, GateVerdict, gate_judge
from convergence.decisions.reviews import fresh_reviews, only_empty, stale_cause
from convergence.decisions.schedule import EFFECT_PATIENCE, RELOOK_MAX, agent_time
from convergence.flow import ConvergenceState as S
from convergence.guards import Facts, Gate, RunEnd
from convergence.models import ReviewerStatus, RoundTurn
from convergence.services.escalations import escalation_current
from runs.flow import RunState
from runs.flows.move import EFFECT_TOPIC
from runs.humans.flow import TaskState
from runs.models import Result
from runs.models.outbox import Outbox
from runs.outbox.dispatch import PENDING
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from convergence.decisions.reviews import KnownReview
    from convergence.looks.scene import Scene
    from convergence.models import Escalation

FOR_GOOD = frozenset({"forge_forbidden", "forge_gone", "answer_too_large"})  # reading again will not help
NEEDS_HUMAN = "needs_human"


OWN_WORDS = frozenset({"reply", "resolve"})  # effects that change what a look would find open


@dataclass(frozen=True, slots=True)
class Judged:
    """The facts of one look and what they were made of, for the writes of the edge."""

    facts: Facts
    verdict: AgentVerdict = AgentVerdict()  # noqa: RUF009  # frozen
    fresh: tuple[KnownReview, ...] = ()
    gate: GateVerdict | None = None
    escalation: Escalation | None = None
    effects_pending: bool = False
    timer_at: datetime | None = None


def judge(scene: Scene) -> Judged:
    """The facts of the scene; each state adds its own to what all share."""
    row = scene.row
    shared = Facts(
        pull=scene.seen,
        unreachable=scene.unreachable,
        head=scene.head,
        head_repository=scene.pull.head_repository_id is not None,
        round=row.round,
        max_rounds=row.max_rounds,
        husk_retries=row.husk_retries,
        stale=row.stale,
    )
    return _STATES[row.state](scene, shared)


def requestable_reviewers(scene: Scene) -> tuple[str, ...]:
    """Names of the configured reviewers that the forge has not refused to request here."""
    refused = set(
        ReviewerStatus.objects.filter(repository=scene.pull.repository, unavailable_until__gt=scene.now).values_list(
            "reviewer", flat=True
        )
    )
    return tuple(each.name for each in scene.people.reviewers if each.name not in refused)


def run_end(scene: Scene, verdict: AgentVerdict) -> RunEnd | None:
    """How the run of the step ended; None while it has not."""
    run, attempt = scene.run, scene.attempt
    if run is None or not run.is_at_rest:
        return None
    asks, question = _asked_by_refusal(scene)
    return RunEnd(
        state=run.state,
        reason_code=run.reason_code,
        cause=run.cause,
        status=verdict.status,
        question=question or verdict.question,
        asks_human=asks,
        attempt=attempt_word(attempt.outcome, attempt.cause, attempt.reason_code) if attempt else "",
    )


def agent_answer(scene: Scene) -> AgentVerdict:
    """What the agent of the step returned; the default where it returned nothing usable."""
    run = scene.run
    if run is None or run.state != RunState.COMPLETED:
        return AgentVerdict()
    known = thread_ids(scene.turn.backlog) if scene.turn else frozenset()
    return agent_verdict(_document(scene).get("artifact"), known_threads=known)


def _asked_by_refusal(scene: Scene) -> tuple[bool, str]:
    run = scene.run
    if run is None or run.state != RunState.REFUSED or run.reason_code != NEEDS_HUMAN:
        return False, ""
    decision = _document(scene).get("decision")
    question = decision.get("question") if isinstance(decision, dict) else ""
    return True, question.strip() if isinstance(question, str) else ""


def _document(scene: Scene) -> dict[str, Any]:
    row = Result.objects.filter(run=scene.run).first()
    return row.document if row else {}


def _capture(scene: Scene, shared: Facts) -> Judged:
    found = scene.open and scene.head is not None
    return Judged(replace(shared, settled=found or scene.row.relooks >= RELOOK_MAX))


def _round(scene: Scene, shared: Facts) -> Judged:
    verdict = agent_answer(scene)
    timer_at = _sla(scene)
    passed = timer_at is not None and timer_at <= scene.now
    return Judged(replace(shared, run=run_end(scene, verdict), timer_passed=passed), verdict=verdict, timer_at=timer_at)


def _sla(scene: Scene) -> datetime | None:
    """When the agent's time is over, from the first claim of the run; time in the queue does not count."""
    run = scene.run
    if run is None or run.first_claimed_at is None:
        return None
    return run.first_claimed_at + agent_time(settings.FACTORY.agent_sla_timeout, run.extended_seconds)


def _progress(scene: Scene, shared: Facts) -> Judged:
    found = scene.open and scene.head is not None
    status = scene.turn.round.status if scene.turn else ""
    return Judged(
        replace(
            shared,
            settled=found or scene.row.relooks >= RELOOK_MAX,
            entry_head=_baseline(scene),
            round_status=status,
            run=run_end(scene, AgentVerdict()),
        )
    )


def _baseline(scene: Scene) -> str | None:
    """The head at the turn's entry, else the one that this generation's last check saw."""
    if scene.turn is not None and scene.turn.entry_head:
        return scene.turn.entry_head
    last = (
        RoundTurn.objects.filter(round__pull=scene.pull, round__generation=scene.row.generation)
        .exclude(exit_head="")
        .order_by("-id")
        .values_list("exit_head", flat=True)
        .first()
    )
    return last or None


def _wait(scene: Scene, shared: Facts) -> Judged:
    current = policy().convergence
    fresh = fresh_reviews(scene.reviews, head=scene.head, threads=scene.threads) if scene.open else ()
    empty = current.skip_empty_review and only_empty(fresh, scene.reviews, scene.threads, complete=scene.complete)
    timer = scene.row.timer_at
    if fresh and _own_words_leaving(scene):
        # The threads that they answer and resolve would be given to the next turn as if they were open.
        return Judged(shared, effects_pending=True, timer_at=timer)
    moved = scene.head is not None and scene.head != scene.row.waiting_head  # a new head waits anew
    return Judged(
        replace(
            shared,
            fresh=bool(fresh),
            only_empty=empty,
            stale_cause=bool(stale_cause(scene.reviews, scene.head)),
            requestable=bool(requestable_reviewers(scene)),
            proceed_without_reviewer=current.on_reviewer_unavailable == "proceed",
            timer_passed=timer is not None and timer <= scene.now and not moved,
        ),
        fresh=fresh,
        timer_at=timer,
    )


def _own_words_leaving(scene: Scene) -> bool:
    """Whether what was read may lack replies and resolutions of this subject, for as long as patience lasts.

    It does while they wait to be posted, and when they were posted after the reading began.
    """
    if scene.now - scene.row.entered_at >= EFFECT_PATIENCE:
        return False
    unread = PENDING | Q(done_at__gte=scene.read_from)
    leaving = Outbox.objects.filter(unread, topic=EFFECT_TOPIC, stream=scene.row.subject)
    return any(row.payload["effect"] in OWN_WORDS for row in leaving)


def _gate(scene: Scene, shared: Facts) -> Judged:
    row = scene.row
    timer = row.timer_at
    if _own_words_leaving(scene):
        return Judged(shared, effects_pending=True, timer_at=timer)
    unreadable, for_good = _unreadable(scene)
    gate = gate_judge(
        GateFacts(
            head=scene.head,
            reviews=scene.reviews,
            threads=scene.threads,
            requestable=bool(requestable_reviewers(scene)),
            unreadable=unreadable,
            for_good=for_good,
        )
    )
    return Judged(
        replace(
            shared,
            gate=gate.result,
            gate_for_good=gate.result is Gate.UNREADABLE and gate.for_good,
            timer_passed=timer is not None and timer <= scene.now,
        ),
        gate=gate,
        timer_at=timer,
    )


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
    return "", False


def _answer(scene: Scene, shared: Facts) -> Judged:
    current = escalation_current(scene.pull)
    answered = current is not None and current.task.state == TaskState.ANSWERED
    resolution = str(current.task.variables.get("resolution", "retry")) if current and answered else ""
    return Judged(replace(shared, answer=resolution), escalation=current)


_STATES: dict[str, Callable[[Scene, Facts], Judged]] = {
    S.CAPTURE_HEAD: _capture,
    S.REVIEW_ROUND: _round,
    S.CHECK_PROGRESS: _progress,
    S.AWAIT_REVIEW: _wait,
    S.CONVERGE_GATE: _gate,
    S.AWAIT_ANSWER: _answer,
}

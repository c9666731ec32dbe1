"""The facts of agent steps: how the run of the step ended, whether it moved the branch, what it asks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.backlog import advisory_ids, thread_ids
from convergence.decisions.agent_result import AgentVerdict, agent_verdict
from convergence.decisions.attempts import attempt_word
from convergence.decisions.churn import churn_of
from convergence.decisions.schedule import RELOOK_MAX, agent_time
from convergence.decisions.scope import ScopeVerdict, scope_missed, scope_verdict
from convergence.forge.facts import Profile
from convergence.guards import Facts, RunEnd
from convergence.looks.judging.judged import Judged
from convergence.looks.judging.reviews import gate_verdict
from convergence.models import RoundTurn
from convergence.services.findings import entries_of, recurring_of
from convergence.services.memory import answer_recallable, answer_source
from runs.flow import RunState
from runs.models import Result
from runs.policy import policy
from runs.queue.limits.rearming import time_over

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.decisions.churn import Churn
    from convergence.looks.scene import Scene
    from convergence.models import Escalation

NEEDS_HUMAN = "needs_human"


def turn_facts(scene: Scene, shared: Facts) -> Judged:
    """How the review agent's turn ended, and whether an earlier answer settles what it asks."""
    verdict = _agent_answer(scene)
    end = _run_end(scene, verdict)
    timer_at = _sla(scene)
    used = _answer_in_use(scene)
    memory = answer_recallable(scene.row, end.question) if end is not None and end.question else None
    facts = replace(
        shared,
        run=end,
        remembered=memory is not None,
        answer_reverted=used is not None and used.reverted_at is not None,
        timer_passed=timer_at is not None and timer_at <= scene.now,
    )
    return Judged(facts, verdict=verdict, memory=memory, escalation=used, timer_at=timer_at)


def progress_facts(scene: Scene, shared: Facts) -> Judged:
    """Whether the turn moved the branch, and whether the rounds lead anywhere."""
    found = scene.open and scene.head is not None
    churn = _churn(scene)
    facts = replace(
        shared,
        settled=found or scene.row.relooks >= RELOOK_MAX,
        entry_head=_baseline(scene),
        round_status=scene.turn.round.status if scene.turn else "",
        run=_run_end(scene, AgentVerdict()),
        churn=churn is not None,
    )
    return Judged(facts, churn=churn)


def scope_check_facts(scene: Scene, shared: Facts) -> Judged:
    """What the classifier said, whether a person has ruled on it, and what the gate says once the check is over."""
    timer_at = _sla(scene)
    whole = scene.facts is not None and scene.facts.profile is Profile.BACKLOG
    gate = gate_verdict(scene) if whole else None
    verdict = _scope_said(scene)
    end = _run_end(scene, AgentVerdict())
    memory = answer_recallable(scene.row, verdict.reason) if verdict.blocked else None
    facts = replace(
        shared,
        run=replace(end, scope_blocked=verdict.blocked) if end else None,
        remembered=memory is not None,
        gate=gate.result if gate else None,
        timer_passed=timer_at is not None and timer_at <= scene.now,
    )
    return Judged(facts, scope=verdict, memory=memory, gate=gate, timer_at=timer_at)


def _run_end(scene: Scene, verdict: AgentVerdict) -> RunEnd | None:
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


def _agent_answer(scene: Scene) -> AgentVerdict:
    """What the agent of the step returned; the default where it returned nothing usable."""
    run = scene.run
    if run is None or run.state != RunState.COMPLETED:
        return AgentVerdict()
    backlog = scene.turn.backlog if scene.turn else {}
    return agent_verdict(
        _document(scene).get("artifact"),
        known_threads=thread_ids(backlog),
        known_advisories=advisory_ids(backlog),
    )


def _scope_said(scene: Scene) -> ScopeVerdict:
    run = scene.run
    if run is None or not run.is_at_rest:
        return scope_missed("late", "")
    if run.state != RunState.COMPLETED:
        return scope_missed(run.state, run.reason_code)
    ruled = scene.ruling.fingerprint if scene.ruling else ""
    return scope_verdict(_document(scene).get("artifact"), ruled=ruled)


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


def _answer_in_use(scene: Scene) -> Escalation | None:
    """The question whose answer the present turn works with."""
    if scene.turn is None or not scene.turn.answer:
        return None
    return answer_source(scene.row)


def _sla(scene: Scene) -> datetime | None:
    """When the agent's time is over, from the first claim of the run; time in the queue does not count.

    What comes due under a pause is set anew: the step may wait for nothing but its end.
    """
    run = scene.run
    if run is None or run.first_claimed_at is None:
        return None
    limit = settings.FACTORY.agent_sla_timeout
    due_at = run.first_claimed_at + agent_time(limit, run.extended_seconds)
    repository = scene.pull.repository.full_name
    return time_over(due_at, limit, repository=repository, agent=run.agent_id, at=scene.now)


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


def _churn(scene: Scene) -> Churn | None:
    rounds = policy().convergence.churn_rounds
    if not rounds:
        return None
    row = scene.row
    return churn_of(
        entries_of(scene.pull, row.generation),
        recurring_of(scene.pull, row.generation),
        rounds=rounds,
        told_round=row.churn_round,
    )

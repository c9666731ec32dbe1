"""One pull request with everything that explains it; the number of queries does not grow with its rounds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from convergence.decisions.schedule import HUSK_DELAYS
from convergence.forge_access import people_of
from convergence.models import (
    ConvergenceFlow,
    Escalation,
    GateCheck,
    PullRequestGeneration,
    ReviewerStatus,
    ReviewRequest,
    ReviewSeen,
    Round,
)
from convergence.selectors.findings import findings_counted, findings_shown, waivers_shown
from convergence.selectors.resting import rests_because
from convergence.selectors.shapes import (
    Counter,
    Counters,
    EscalationShown,
    GateShown,
    Nudges,
    PullDetail,
    ReviewerShown,
    ReviewShown,
    RoundShown,
    RunShown,
    ScopeShown,
    TransitionShown,
    TurnShown,
)
from runs.clock import now as clock_now
from runs.flows.registry import driving
from runs.models import Attempt, Run, TransitionLog, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.models import PullRequest, RoundTurn

MICRO_USD = 1_000_000
NEWEST = 200  # transitions and runs that are shown
MOST_HUSKS = len(HUSK_DELAYS)


def pull_detail(pull: PullRequest) -> PullDetail:
    """The detail of one pull request, of all its submissions, the newest first where it says so."""
    flow = ConvergenceFlow.rows().filter(pull=pull, generation=pull.generation).first()
    found = driving(pull.subject)
    generation = PullRequestGeneration.objects.get(pull=pull, number=pull.generation)
    stage = found[1].state if found else pull.state
    waiting = found[0].waiting_for(found[1]).as_json() if found and not found[1].is_terminal else None
    gate = GateCheck.objects.filter(pull=pull, generation=pull.generation).order_by("-id").first()
    return PullDetail(
        pr_key=pull.key,
        title=pull.title,
        url=pull.url,
        author=pull.author,
        state=pull.state,
        stage=stage,
        round=flow.round if flow else 1,
        max_rounds=flow.max_rounds if flow else generation.max_rounds,
        generation=pull.generation,
        head_ref=pull.head_ref,
        head_sha=pull.head_sha,
        base_ref=pull.base_ref,
        auto_merge=generation.auto_merge,
        outcome=generation.outcome,
        rests_because=rests_because(pull, generation),
        submitted_by=generation.submitted_by,
        submitted_at=generation.submitted_at,
        warnings=list(generation.warnings),
        counters=_counters(pull, flow, generation),
        waiting_for=waiting,
        rounds=_rounds(pull),
        escalations=_escalations(pull),
        transitions=_transitions(pull),
        runs=_runs(pull),
        gate=GateShown(gate.result, gate.reason, gate.head, gate.at) if gate else None,
        scope=ScopeShown(generation.scope_result, generation.scope_detail),
        reviewers=reviewers_shown(pull),
        findings=findings_shown(pull, pull.generation),
        waivers=waivers_shown(pull, pull.generation),
    )


def _counters(pull: PullRequest, flow: ConvergenceFlow | None, generation: PullRequestGeneration) -> Counters:
    head = flow.waiting_head if flow else ""
    requests = list(
        ReviewRequest.objects.filter(pull=pull, generation=generation.number, head=head)
        .order_by("id")
        .values_list("asked_at", flat=True)
    )
    return Counters(
        round=Counter(flow.round if flow else 1, flow.max_rounds if flow else generation.max_rounds),
        husk_retries=Counter(flow.husk_retries if flow else 0, MOST_HUSKS),
        ack_retries=Counter(flow.ack_retries if flow else 0, flow.ack_retry_max if flow else 0),
        nudges=Nudges(len(requests), requests[-1] if requests else None),
    )


def _rounds(pull: PullRequest) -> list[RoundShown]:
    rounds = list(Round.objects.filter(pull=pull).order_by("generation", "number").prefetch_related("turns"))
    reviews: dict[tuple[int | None, int | None], list[ReviewShown]] = defaultdict(list)
    for row in ReviewSeen.objects.filter(pull=pull).order_by("submitted_at", "id"):
        reviews[row.consumed_generation, row.consumed_round].append(
            ReviewShown(
                id=row.forge_id,
                reviewer=row.reviewer,
                state=row.state,
                submitted_at=row.submitted_at,
                counts_for=row.counts_for,
                void_reason=row.void_reason,
                consumed_round=row.consumed_round,
            )
        )
    run_ids = [turn.run_id for each in rounds for turn in each.turns.all() if turn.run_id]
    told = _told_by_attempts(run_ids)
    counted = findings_counted(rounds)
    shown = []
    for each in rounds:
        turns = sorted(each.turns.all(), key=lambda turn: turn.turn)
        shown.append(
            RoundShown(
                generation=each.generation,
                number=each.number,
                status=each.status,
                raw_status=each.raw_status,
                summary=each.summary,
                entry_head=turns[0].entry_head if turns else "",
                exit_head=turns[-1].exit_head if turns else "",
                started_at=each.started_at,
                ended_at=each.ended_at,
                findings=counted.get(each.pk),
                cost=_cost(turns, told),
                turns=[_turn(turn, told) for turn in turns],
                reviews=reviews[each.generation, each.number],
            )
        )
    return shown


def _cost(turns: Sequence[RoundTurn], told: Mapping[str, tuple[str, float | None]]) -> float | None:
    """What the turns cost together, None when nobody knows of any."""
    known = [cost for turn in turns if (cost := told.get(turn.run_id, ("", None))[1]) is not None]
    return sum(known) if known else None


def _told_by_attempts(run_ids: Sequence[str]) -> Mapping[str, tuple[str, float | None]]:
    """The newest prompt's hash and the cost in USD of each run."""
    attempts = Attempt.objects.filter(run__run_id__in=run_ids).order_by("id")
    prompts = dict(attempts.values_list("run__run_id", "prompt_hash"))
    costs: dict[str, float | None] = {}
    for run_id, cost in Usage.objects.filter(attempt__run__run_id__in=run_ids).values_list(
        "attempt__run__run_id", "cost_micro_usd"
    ):
        if cost is not None:
            costs[run_id] = (costs.get(run_id) or 0.0) + cost / MICRO_USD
    return {run_id: (prompts.get(run_id, ""), costs.get(run_id)) for run_id in run_ids}


def _turn(turn: RoundTurn, told: Mapping[str, tuple[str, float | None]]) -> TurnShown:
    prompt, cost = told.get(turn.run_id, ("", None))
    return TurnShown(
        turn=turn.turn,
        run_id=turn.run_id,
        outcome=turn.outcome,
        status=turn.status,
        raw_status=turn.raw_status,
        question=turn.question,
        answer=turn.answer,
        probe=turn.probe,
        entry_head=turn.entry_head,
        exit_head=turn.exit_head,
        prompt_hash=prompt,
        backlog_hash=turn.backlog_hash,
        cost=cost,
        started_at=turn.started_at,
        ended_at=turn.ended_at,
    )


def _escalations(pull: PullRequest) -> list[EscalationShown]:
    rows = Escalation.objects.select_related("task").filter(pull=pull).order_by("-id")[:NEWEST]
    return [
        EscalationShown(
            id=row.pk,
            task_id=row.task_id,
            flow=row.flow,
            generation=row.generation,
            round=row.round,
            reason=row.reason,
            kind=row.kind,
            question=row.text,
            state=row.state,
            asked_at=row.asked_at,
            due_at=row.task.due_at,
            answered_at=row.task.answered_at,
            answered_by=row.task.answered_by,
            answer=str(row.task.variables.get("answer", "")),
            resolution=str(row.task.variables.get("resolution", "")),
            auto_applied=row.auto_applied,
            reverted_at=row.reverted_at,
            reverted_by=row.reverted_by,
        )
        for row in rows
    ]


def _transitions(pull: PullRequest) -> list[TransitionShown]:
    newest = TransitionLog.objects.filter(subject=pull.subject).order_by("-id")[:NEWEST]
    return [
        TransitionShown(
            id=row.pk,
            flow=row.flow,
            generation=row.generation,
            from_state=row.from_state,
            to_state=row.to_state,
            edge=row.edge,
            event=row.event,
            guards=row.guards,
            actor=row.actor,
            note=row.note,
            at=row.at,
        )
        for row in newest
    ]


def _runs(pull: PullRequest) -> list[RunShown]:
    return [
        RunShown(
            run_id=run.run_id,
            agent=run.agent_ref,
            state=run.state,
            reason_code=run.reason_code,
            generation=run.flow_generation,
            step=run.flow_step,
            attempt=run.attempt_number,
            created_at=run.created_at,
            ended_at=run.ended_at,
        )
        for run in Run.objects.filter(subject=pull.subject).order_by("-id")[:NEWEST]
    ]


def reviewers_shown(pull: PullRequest) -> list[ReviewerShown]:
    """The configured reviewers, and whether the forge lets each be requested here."""
    marks = {mark.reviewer: mark for mark in ReviewerStatus.objects.filter(repository=pull.repository)}
    now = clock_now()
    shown = []
    for reviewer in people_of(pull.repository.full_name).reviewers:
        mark = marks.get(reviewer.name)
        until = mark.unavailable_until if mark and mark.unavailable_until and mark.unavailable_until > now else None
        shown.append(
            ReviewerShown(
                name=reviewer.name,
                available=until is None,
                unavailable_until=until,
                ignored_count=mark.ignored_count if mark else 0,
                detail=mark.detail if mark else "",
            )
        )
    return shown

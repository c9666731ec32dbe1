"""Rounds and turns as rows: begun at the entry, ended with what the agent said, checked against the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.models import GateCheck, Round, RoundStatus, RoundTurn
from runs.contract.canonical import document_hash

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.decisions.agent_result import AgentVerdict
    from convergence.decisions.gate import GateVerdict
    from convergence.models import ConvergenceFlow, PullRequest


def turn_begin(
    row: ConvergenceFlow, pull: PullRequest, *, head: str | None, backlog: Mapping[str, Any], now: datetime
) -> RoundTurn:
    """Open the next turn of the row's round, and the round with its first turn; nothing of an earlier turn survives."""
    current, _ = Round.objects.get_or_create(
        pull=pull, generation=row.generation, number=row.round, defaults={"started_at": now}
    )
    Round.objects.filter(pk=current.pk).update(status=RoundStatus.RUNNING, raw_status="", summary="", ended_at=None)
    return RoundTurn.objects.create(
        round=current,
        turn=row.turn + 1,
        entry_head=head or "",
        backlog=dict(backlog),
        backlog_hash=document_hash(dict(backlog)),
        answer=row.answer,
        started_at=now,
    )


def turn_end(turn: RoundTurn, verdict: AgentVerdict, *, status: str, outcome: str, now: datetime) -> None:
    """Record how the turn ended and with it how its round stands; ``outcome`` is the run's reason."""
    RoundTurn.objects.filter(pk=turn.pk).update(
        status=status,
        raw_status=verdict.raw_status,
        summary=verdict.summary,
        question=verdict.question,
        outcome=outcome[:32],
        replies=[thread.as_json() for thread in verdict.threads],
        acks=[ack.as_json() for ack in verdict.acks],
        ended_at=now,
    )
    Round.objects.filter(pk=turn.round_id).update(
        status=status, raw_status=verdict.raw_status, summary=verdict.summary, ended_at=now
    )


def turn_checked(turn: RoundTurn, *, probe: str, head: str | None) -> None:
    """Record what the check of the branch said; the round's status is left alone."""
    RoundTurn.objects.filter(pk=turn.pk).update(probe=probe, exit_head=head or turn.exit_head)


def backlog_before(row: ConvergenceFlow) -> Mapping[str, Any] | None:
    """The newest backlog of this generation, for a turn that begins while the forge cannot be read."""
    found: Mapping[str, Any] | None = (
        RoundTurn.objects.filter(round__pull=row.pull_id, round__generation=row.generation)
        .order_by("-id")
        .values_list("backlog", flat=True)
        .first()
    )
    return found


def gate_checked(
    row: ConvergenceFlow,
    verdict: GateVerdict,
    *,
    head: str | None,
    counts: Mapping[str, int],
    waived: int,
    now: datetime,
    edge: bool,
) -> None:
    """Write what the gate read and said; a look that moves nothing adds a row only for another answer."""
    said = {"result": verdict.result, "reason": verdict.reason[:300], "head": head or ""}
    last = GateCheck.objects.filter(pull=row.pull_id, generation=row.generation).order_by("-id").first()
    if not edge and last is not None and all(getattr(last, name) == value for name, value in said.items()):
        return
    GateCheck.objects.create(
        pull_id=row.pull_id,
        generation=row.generation,
        round=row.round,
        counts=dict(counts),
        left={name: list(ids) for name, ids in verdict.left.items()},
        waived=waived,
        at=now,
        **said,
    )

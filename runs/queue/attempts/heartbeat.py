"""Heartbeats: liveness, phases, usage on the way, and the question at the agent's deadline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from runs.contract.codes import Phase
from runs.contract.errors import Refused
from runs.flow import RunState
from runs.models import Attempt, JournalKind
from runs.queue.attempts.fence import Held, Presented, attempt_write
from runs.queue.attempts.usage import Totals, usage_record, usage_totals
from runs.queue.claim import PREPARATION
from runs.queue.journal import Step, Walk, journal_append
from runs.rows import row_save

if TYPE_CHECKING:
    from collections.abc import Mapping

PHASES = tuple(Phase)
FINAL_USAGE = timedelta(minutes=10)  # after a cancel, how long the usage of a stopped agent is still charged


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One heartbeat as sent; ``body_hash`` is over the body without `waitSeconds`."""

    sequence: int
    phase: Phase
    body_hash: str
    usage: Mapping[str, Any] | None = None
    at_deadline: bool = False
    verify_reason: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """What the worker is told: the three instants, and whether a cancel or the recorded deadline ends its work."""

    attempt_id: int
    control_seq: int
    server_time: datetime
    lease_expires_at: datetime
    agent_deadline_at: datetime | None
    heartbeat_due_at: datetime
    deadline_recorded: bool
    cancel_reason: str  # empty: no cancel
    budget_micro_usd: int | None = None  # what the run may spend in this attempt; None: no limit
    budget_tokens: int | None = None

    @property
    def cancel_requested(self) -> bool:
        """Whether the agent must be stopped and nothing published."""
        return bool(self.cancel_reason)


def attempt_heartbeat(presented: Presented, beat: Heartbeat) -> Lease:
    """Renew the attempt's liveness, take the edges that the phase proves, charge usage; the lease as it is now.

    A repeated sequence changes nothing; a lower one is ignored. After a cancel every heartbeat is answered. Raises
    what `attempt_write` raises, and Refused `heartbeat_conflict`, `illegal_phase`, and Invalid for unsound usage.
    """
    totals = usage_totals(beat.usage)
    return attempt_write(presented, "heartbeat", lambda held: _beat(held, beat, totals), cancelled_too=True)


def attempt_renewed(held: Held) -> None:
    """Any accepted request of an attempt is a sign of life."""
    held.attempt.heartbeat_due_at = held.at + timedelta(seconds=settings.FACTORY.liveness_seconds)


def attempt_started(held: Held, walk: Walk) -> None:
    """Take the edge `start` on this walk: the agent's time and the deadline count from now."""
    run, attempt, at = held.run, held.attempt, held.at
    attempt.started_at = at
    attempt.agent_deadline_at = at + timedelta(seconds=run.timeout_seconds - run.verify_seconds)
    attempt.deadline_at = at + timedelta(seconds=run.timeout_seconds) + PREPARATION
    walk.take("start", Step(f"worker:{attempt.worker_id}", "started", at, attempt))


def attempt_verifying(held: Held, walk: Walk, reason: str = "") -> None:
    """Take the edge `verify` on this walk, and `start` before it if the server has not seen that one."""
    run, attempt, at = held.run, held.attempt, held.at
    if run.state == RunState.LEASED:
        attempt_started(held, walk)
    attempt.verifying_at = at
    late = attempt.deadline_recorded_at is not None or (
        attempt.agent_deadline_at is not None and at >= attempt.agent_deadline_at
    )
    walk.take(
        "verify",
        Step(f"worker:{attempt.worker_id}", reason or ("late_completion" if late else "agent_exited"), at, attempt),
    )


def _beat(held: Held, beat: Heartbeat, totals: Totals | None) -> Lease:
    attempt = held.attempt
    repeated = beat.sequence == attempt.heartbeat_seq
    if repeated and beat.body_hash != attempt.heartbeat_hash:
        raise Refused("heartbeat_conflict", f"heartbeat {beat.sequence} was sent before with another body")
    if repeated or beat.sequence < attempt.heartbeat_seq:
        return _lease(held)
    if held.is_cancelled:
        _final_usage(held, totals)
        if beat.phase is Phase.STOPPED:
            attempt.phase = str(beat.phase)  # shown: nothing of the agent is alive any more
    else:
        _take_phase(held, beat)
        if beat.at_deadline:
            _record_deadline(held)
        if totals is not None:
            usage_record(held.run, attempt, totals, held.at)
        attempt_renewed(held)
    attempt.heartbeat_seq = beat.sequence
    attempt.heartbeat_hash = beat.body_hash
    row_save(attempt)
    return _lease(held)


def _take_phase(held: Held, beat: Heartbeat) -> None:
    attempt = held.attempt
    if beat.phase is Phase.STOPPED or PHASES.index(beat.phase) < PHASES.index(Phase(attempt.phase)):
        raise Refused(
            "illegal_phase",
            f"an attempt that is {attempt.phase} cannot be {beat.phase}",
            details={"phase": attempt.phase},
        )
    walk = Walk(held.run)
    if beat.phase is Phase.RUNNING and held.run.state == RunState.LEASED:
        attempt_started(held, walk)
    if beat.phase is Phase.VERIFYING and held.run.state in {RunState.LEASED, RunState.RUNNING}:
        attempt_verifying(held, walk, beat.verify_reason)
    walk.write()
    attempt.phase = str(beat.phase)


def _record_deadline(held: Held) -> None:
    """Expiry first: from here on no extension moves the agent's deadline. Nothing when it is still ahead."""
    attempt = held.attempt
    ends = attempt.agent_deadline_at
    if ends is None or ends > held.at or attempt.deadline_recorded_at is not None:
        return
    attempt.deadline_recorded_at = held.at
    step = Step(f"worker:{attempt.worker_id}", "agent_deadline", held.at, attempt)
    journal_append(held.run, JournalKind.DEADLINE, step)


def _final_usage(held: Held, totals: Totals | None) -> None:
    ended = held.attempt.finished_at
    if totals is not None and ended is not None and held.at < ended + FINAL_USAGE:
        usage_record(held.run, held.attempt, totals, held.at)


def _lease(held: Held) -> Lease:
    attempt: Attempt = held.attempt
    return Lease(
        attempt_id=attempt.pk,
        control_seq=attempt.control_seq,
        server_time=held.at,
        lease_expires_at=attempt.deadline_at,
        agent_deadline_at=attempt.agent_deadline_at,
        heartbeat_due_at=attempt.heartbeat_due_at,
        deadline_recorded=attempt.deadline_recorded_at is not None,
        cancel_reason=attempt.reason_code if held.is_cancelled else "",
        budget_micro_usd=attempt.budget_micro_usd,
        budget_tokens=attempt.budget_tokens,
    )

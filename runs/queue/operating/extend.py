"""Giving a running agent more time: the deadlines move together, in a race that the recorded deadline ends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from runs.clock import now
from runs.contract.errors import Invalid, Refused
from runs.contract.instants import format_instant
from runs.flow import RunState
from runs.flows.steps import flow_step_delayed
from runs.models import Attempt, JournalKind, Run
from runs.policy import policy
from runs.queue.claim import PREPARATION
from runs.queue.journal import Step, journal_append
from runs.queue.notices import control_changed
from runs.queue.operating.words import reason_detail
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from datetime import datetime

MOST_SECONDS = 3600
EXTENDABLE = frozenset({RunState.RUNNING, RunState.VERIFYING})


def run_extend(*, run: Run, seconds: Any, actor: str, override: bool = False, reason: str = "") -> Attempt:
    """Move the agent's deadline and the attempt's by ``seconds``, and with them the SLA of the flow that waits for it.

    Locks the run; returns the attempt, and its held heartbeat is answered with the new instants. Raises Invalid
    `invalid_seconds`, and Refused `run_not_extendable`, `deadline_recorded` (also when a late request or the reaper has
    not yet ended an attempt whose deadline passed) and `run_limit_exceeded`; then nothing is written.
    """
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 1 <= seconds <= MOST_SECONDS:
        message = f"seconds is a whole number from 1 to {MOST_SECONDS}, not {seconds!r:.40}"
        raise Invalid("invalid_seconds", message, details={"field": "seconds"})
    by = timedelta(seconds=seconds)
    with joined_transaction():
        at = now()
        flow_step_delayed(run, by, at)
        locked = Run.objects.select_for_update().get(pk=run.pk)
        attempt = _extendable(locked, at)
        if not override:
            _check_limit(locked, attempt, by)
        attempt.deadline_at += by
        if attempt.agent_deadline_at is not None:
            attempt.agent_deadline_at += by
        attempt.control_seq += 1
        attempt.save(update_fields=["deadline_at", "agent_deadline_at", "control_seq"])
        detail = {
            "seconds": seconds,
            "agentDeadlineAt": format_instant(attempt.agent_deadline_at) if attempt.agent_deadline_at else None,
            "deadlineAt": format_instant(attempt.deadline_at),
            "override": override,
            **reason_detail(reason),
        }
        journal_append(
            locked,
            JournalKind.EXTENSION,
            Step(actor, "extended", at, attempt, detail),
            extended_seconds=locked.extended_seconds + seconds,
        )
        control_changed()
    return attempt


def _extendable(run: Run, at: datetime) -> Attempt:
    attempt = Attempt.objects.filter(run=run, finished_at=None).first()
    if attempt is None or run.state not in EXTENDABLE:
        raise Refused(
            "run_not_extendable",
            f"{run.run_id} is {run.state}; only a running or verifying run can be extended",
            details={"runId": run.run_id, "state": run.state},
        )
    attempt.run = run
    if attempt.deadline_recorded_at is not None or attempt.deadline_at <= at:
        ended = attempt.deadline_recorded_at or attempt.deadline_at
        raise Refused(
            "deadline_recorded",
            f"the time of {run.run_id} ended at {ended:%H:%M:%S} UTC and was recorded; it cannot be extended any more",
            details={"runId": run.run_id, "endedAt": format_instant(ended)},
        )
    return attempt


def _check_limit(run: Run, attempt: Attempt, by: timedelta) -> None:
    """The limit is on the time that agent and verification get; what preparation and upload may take lies beside it."""
    minutes = policy().limits.max_run_minutes
    latest = (attempt.started_at or attempt.claimed_at) + timedelta(minutes=minutes)
    if attempt.deadline_at - PREPARATION + by > latest:
        raise Refused(
            "run_limit_exceeded",
            f"{run.run_id} would run longer than {minutes} min (limits.maxRunMinutes); override the limit to extend it",
            details={"runId": run.run_id, "latest": format_instant(latest)},
        )

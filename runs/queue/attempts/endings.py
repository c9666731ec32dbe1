"""How an attempt ends and what becomes of its run: one place for workers, reaper, operators and cancels."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, transaction

from runs.contract.canonical import canonical_bytes
from runs.contract.codes import failure_rule
from runs.flow import RunState
from runs.models import Attempt, AttemptOutcome, Run
from runs.outbox.write import outbox_add
from runs.policy import policy
from runs.queue.attempts.retry import LEAST_SHARE, Failures, Retry, counted_column, retry_decision
from runs.queue.journal import Step, run_move
from runs.queue.notices import work_appeared
from runs.queue.ready import key_released
from runs.rows import row_save

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_log = logging.getLogger(__name__)

RETRY_RULE = "retry_rule"
REAPER = "reaper"


@dataclass(frozen=True, slots=True)
class Ending:
    """How an attempt ended. ``columns`` are further columns of the attempt that are written with it."""

    outcome: AttemptOutcome
    reason: str
    at: datetime
    detail: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)


def attempt_end(attempt: Attempt, ending: Ending) -> None:
    """Finish the attempt and free its exclusive key; the runs that wait for the key are ready at once."""
    failed = ending.outcome in {AttemptOutcome.FAILED, AttemptOutcome.TIMED_OUT}
    attempt.outcome = ending.outcome
    attempt.reason_code = ending.reason
    attempt.cause = str(failure_rule(ending.reason).cause) if failed else ""
    attempt.detail_json = canonical_bytes(dict(ending.detail)).decode()
    attempt.finished_at = ending.at
    for name, value in ending.columns.items():
        setattr(attempt, name, value)
    row_save(attempt)
    if key_released(attempt.exclusive_key) or _frees_a_limit(attempt):
        work_appeared()


def _frees_a_limit(attempt: Attempt) -> bool:
    """Whether its end may let another run go: a cap counts one less, or what it had reserved is free."""
    reserves = attempt.budget_micro_usd is not None or attempt.budget_tokens is not None
    return reserves or policy().caps_attempts


def attempt_failed(run: Run, attempt: Attempt, ending: Ending, *, actor: str, retry_at: datetime | None = None) -> None:
    """End the attempt and the run as failed or timed out; the retry rule may queue the run again in the same breath.

    Needs the run locked and the attempt unfinished. Announces the end when nothing will be tried any more.
    """
    attempt_end(attempt, ending)
    step = Step(actor, ending.reason, ending.at, attempt, ending.detail)
    if ending.outcome == AttemptOutcome.TIMED_OUT:
        run_move(run, "time_out", step)
        ended_announced(run, ending.at)
        return
    column = counted_column(ending.reason)
    counts = {column: getattr(run, column) + 1} if column else {}
    run_move(run, "fail", step, cause=attempt.cause, **counts)
    retry = retry_decision(
        ending.reason,
        Failures(run.environment_failures, run.agent_error_failures, run.drain_failures, run.usage_limit_failures),
        max_attempts=run.max_attempts,
        max_environment_retries=run.max_environment_retries,
        at=ending.at,
        share=LEAST_SHARE + (1 - LEAST_SHARE) * secrets.randbelow(1001) / 1000,
        retry_at=retry_at,
    )
    if retry is None or not _retried(run, attempt, retry, ending.at):
        ended_announced(run, ending.at)


def _retried(run: Run, attempt: Attempt, retry: Retry, at: datetime) -> bool:
    """Queue the failed run again; False when that cannot be written: then it rests in failed, never held."""
    columns = {"hold": "backoff", "hold_checked_at": at, "available_at": retry.available_at}
    try:
        with transaction.atomic():
            run_move(run, "retry", Step(RETRY_RULE, retry.reason, at, attempt), **columns)
    except DatabaseError:
        _log.exception("%s could not be queued again", run.run_id)
        run.refresh_from_db()
        return False
    return True


def deadline_enforced(run: Run, attempt: Attempt, at: datetime) -> None:
    """What becomes of an attempt whose deadline has passed: timed out while the agent ran, else lost to its lease."""
    detail = {"deadlineAt": attempt.deadline_at.isoformat()}
    if run.state == RunState.RUNNING:
        ending = Ending(AttemptOutcome.TIMED_OUT, "deadline_passed", at, detail)
    else:
        ending = Ending(AttemptOutcome.FAILED, "lease_expired", at, detail)
    attempt_failed(run, attempt, ending, actor=REAPER)


def ended_announced(run: Run, at: datetime) -> None:
    """Tell flows and tasks that the run is over without a completed result."""
    _announce(run, at, "run.ended", f"run:{run.run_id}:{run.attempt_number}:ended", {})


def completed_announced(run: Run, at: datetime, *, artifact_hash: str) -> None:
    """Tell flows and edges that the run has a completed result."""
    _announce(run, at, "run.completed", f"run:{run.run_id}:{run.attempt_number}", {"artifactHash": artifact_hash})


def _announce(run: Run, at: datetime, topic: str, key: str, more: Mapping[str, Any]) -> None:
    payload: dict[str, Any] = {
        "runId": run.run_id,
        "attempt": run.attempt_number,
        "state": run.state,
        "reasonCode": run.reason_code,
        "outputContract": run.output_contract,
        "subject": run.subject,
        "correlationId": run.correlation_id,
        "causationId": run.causation_id,
        **more,
    }
    if run.flow_type:
        payload["flow"] = {
            "type": run.flow_type,
            "subject": run.flow_subject,
            "generation": run.flow_generation,
            "step": run.flow_step,
            "entry": run.flow_entry,
        }
    outbox_add(topic=topic, key=key, stream=run.flow_subject or run.subject, payload=payload, at=at)

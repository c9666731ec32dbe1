"""The list row of a run: where it is, why, and since when, without reading its specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.flow import RunState
from runs.models import Attempt, Run
from runs.queue.limits.telling import limits_seen
from runs.queue.waiting import capacities, exclusive_holders, run_waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runs.queue.waiting import Waiting

MICRO = 1_000_000  # µUSD of a dollar


def run_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The rows of the API for these runs; one query whatever their number, and a few more where any is queued."""
    attempts = _attempts([run.pk for run in runs if run.attempt_number])
    workers = capacities() if any(run.state == RunState.QUEUED for run in runs) else ()
    holders, limits = exclusive_holders(runs), limits_seen(runs)
    return [_row(run, attempts.get(run.pk, []), run_waiting(run, workers, holders, limits)) for run in runs]


def run_row(run: Run) -> dict[str, Any]:
    """The row of one run."""
    return run_rows([run])[0]


def _attempts(run_keys: list[int]) -> dict[int, list[Attempt]]:
    """The attempts of each run in their order, with what they used."""
    found: dict[int, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(run__in=run_keys).select_related("usage").order_by("number"):
        found.setdefault(attempt.run_id, []).append(attempt)
    return found


def _row(run: Run, attempts: list[Attempt], waiting: Waiting | None) -> dict[str, Any]:
    attempt = attempts[-1] if attempts else None
    usages = [usage for each in attempts if (usage := getattr(each, "usage", None))]
    costs = [usage.cost_micro_usd for usage in usages if usage.cost_micro_usd is not None]
    return {
        "runId": run.run_id,
        "agent": run.agent_ref,
        "state": run.state,
        "subject": run.subject,
        "subjectLabel": run.subject_label or run.subject,
        "repository": run.repository or None,
        "reason": {"code": run.reason_code, "text": run.reason_code.replace("_", " ")},
        "waiting": None
        if waiting is None
        else {"code": waiting.code, "text": waiting.text, "since": waiting.since, "until": waiting.until},
        "worker": attempt.worker_id if attempt else None,
        "node": attempt.node if attempt else None,
        "attempt": run.attempt_number,
        "failures": {"environment": run.environment_failures, "agentError": run.agent_error_failures},
        "adapter": attempt.adapter if attempt else None,
        "model": (attempt.model or None) if attempt else None,
        "costUsd": sum(costs) / MICRO if costs else None,
        "createdAt": run.created_at,
        "queuedAt": run.queued_at,
        "startedAt": attempt.started_at if attempt else None,
        "endedAt": run.ended_at,
        "deadlineAt": attempt.deadline_at if attempt and not attempt.is_finished else None,
        "heartbeatDueAt": attempt.heartbeat_due_at if attempt and not attempt.is_finished else None,
        "origin": run.origin_kind,
    }

"""How the newest attempt of a run ended badly: what a person reads first, on its page and in the shell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from factory_site.console.selectors.trace import Entry, ended_by_signal, first_errors, last_words
from factory_site.console.wording.reasons import CAUSES, Reason, reason_of
from runs.flow import RunState
from runs.models import Attempt, AttemptOutcome, ResultArtifact, Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

BAD = (AttemptOutcome.FAILED, AttemptOutcome.TIMED_OUT, AttemptOutcome.REFUSED)
SAME_LIMIT = 100  # equal failures that are counted
DAY = timedelta(hours=24)
TAIL_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Failure:
    """How the newest attempt ended badly: what to read first."""

    attempt: Attempt
    reason: Reason
    cause: str
    used: str
    again_at: datetime | None
    is_queued: bool
    is_final: bool
    message: str
    tail: str
    errors: Sequence[Entry]
    logs: Sequence[ResultArtifact]
    same: int


def attempt_failure(run: Run, attempt: Attempt | None) -> Failure | None:
    """How this newest attempt of the run ended badly; None when it did not, or there is none. At most seven reads."""
    if attempt is None or attempt.outcome not in BAD:
        return None
    detail: dict[str, Any] = json.loads(attempt.detail_json or "{}")
    since = (attempt.finished_at or attempt.claimed_at) - DAY
    same = Attempt.objects.filter(
        agent_ref=attempt.agent_ref, finished_at__gte=since, reason_code=attempt.reason_code
    ).exclude(pk=attempt.pk)
    return Failure(
        attempt=attempt,
        reason=reason_of(attempt.reason_code),
        cause=CAUSES.get(attempt.cause, ""),
        used=_used(run, attempt),
        again_at=run.available_at if run.state == RunState.QUEUED else None,
        is_queued=run.state == RunState.QUEUED,
        is_final=run.is_at_rest,
        message=str(detail.get("message") or detail.get("check") or _killed(attempt)),
        tail=(str(detail.get("tail") or "") or last_words(attempt))[-TAIL_CHARACTERS:].strip(),
        errors=first_errors(attempt),
        logs=list(
            ResultArtifact.objects.filter(attempt=attempt, kind__in=["console", "verify_log", "transcript"])
            .select_related("artifact")
            .order_by("kind", "name")
        ),
        same=same.order_by()[:SAME_LIMIT].count(),
    )


def _killed(attempt: Attempt) -> str:
    """What a missing exit code means; no read when there is one."""
    return ended_by_signal(attempt) if attempt.exit_code is None else ""


def _used(run: Run, attempt: Attempt) -> str:
    if attempt.cause == "environment":
        return f"environment failure {run.environment_failures} of {run.max_environment_retries + 1}"
    if attempt.cause == "agent_error":
        return f"agent failure {run.agent_error_failures} of {run.max_attempts}"
    return ""

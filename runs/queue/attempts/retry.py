"""Whether a failed run is tried again, and when: pure decisions over counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from runs.contract.codes import Cause, FailureRule, failure_rule

FIRST_DELAY = timedelta(seconds=5)
LONGEST_DELAY = timedelta(seconds=300)
LEAST_SHARE = 0.5  # the delay is multiplied by a random number from here to 1, so that failures do not meet again
USAGE_LIMIT_DELAY = timedelta(minutes=15)  # when the agent's account does not say when it is free again
LONGEST_USAGE_LIMIT = timedelta(days=8)  # accounts count by the week; what lies beyond was misread


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a run failed so far, this failure included, by the budget that is charged."""

    environment: int = 0
    agent_error: int = 0
    drain: int = 0
    usage_limit: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Back to the queue at this instant, with the journal's reason code."""

    available_at: datetime
    reason: str


def counted_column(code: str) -> str:
    """The counter of the run that a failure of this code is charged to; empty when none is."""
    rule = failure_rule(code)
    if code == "drain_timeout":
        return "drain_failures"
    if code == "usage_limited":
        return "usage_limit_failures"
    if not rule.counted or rule.cause is Cause.FATAL:
        return ""
    return "environment_failures" if rule.cause is Cause.ENVIRONMENT else "agent_error_failures"


def retry_decision(
    code: str,
    failures: Failures,
    *,
    max_attempts: int,
    max_environment_retries: int,
    at: datetime,
    share: float,
    retry_at: datetime | None = None,
) -> Retry | None:
    """When the run goes back to the queue after this failure; None when it rests in failed.

    ``share`` is the random factor, from LEAST_SHARE to 1. ``retry_at`` is what the account of an agent reported.
    """
    rule = failure_rule(code)
    count, allowed = _budget(code, rule, failures, max_attempts, max_environment_retries)
    if rule.cause is Cause.FATAL or not allowed:
        return None
    reason = "retry_environment" if rule.cause is Cause.ENVIRONMENT else "retry_agent_error"
    if code == "usage_limited":
        named = retry_at or at + USAGE_LIMIT_DELAY
        return Retry(min(max(named, at + FIRST_DELAY), at + LONGEST_USAGE_LIMIT), reason)
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** (max(count, 1) - 1))
    return Retry(at + delay * share, reason)


def _budget(
    code: str, rule: FailureRule, failures: Failures, max_attempts: int, max_environment_retries: int
) -> tuple[int, bool]:
    """The count that decides, and whether it leaves another try."""
    if code == "drain_timeout":
        return failures.drain, failures.drain <= (rule.limit or 0)
    if code == "usage_limited":
        return failures.usage_limit, failures.usage_limit <= (rule.limit or 0)
    if rule.cause is Cause.AGENT_ERROR:
        return failures.agent_error, failures.agent_error < max_attempts
    if not rule.counted:
        return 1, True
    return failures.environment, failures.environment <= max_environment_retries

"""The retry rule over every code."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contract.codes import FAILURES, Cause
from runs.queue.attempts.retry import Failures, counted_column, retry_decision

AT = datetime(2026, 8, 30, 12, tzinfo=UTC)
LIMITS: dict[str, Any] = {"max_attempts": 2, "max_environment_retries": 3, "at": AT, "share": 1.0}


def failures(code, count):
    names = {
        "environment_failures": "environment",
        "agent_error_failures": "agent_error",
        "drain_failures": "drain",
        "usage_limit_failures": "usage_limit",
    }
    column = counted_column(code)
    return Failures(**({names[column]: count} if column else {}))


@pytest.mark.parametrize("code", sorted(FAILURES))
def test_a_code_is_retried_as_often_as_its_budget_says(code):
    """RU-H11"""
    rule = FAILURES[code]
    tries = 0
    while tries < 100 and retry_decision(code, failures(code, tries + 1), **LIMITS) is not None:
        tries += 1
    if rule.cause is Cause.FATAL:
        expected = 0
    elif rule.limit is not None:
        expected = rule.limit
    elif not rule.counted:
        expected = 100
    else:
        expected = {Cause.ENVIRONMENT: 3, Cause.AGENT_ERROR: 1}[rule.cause]
    assert tries == expected


def test_a_code_that_nobody_knows_is_fatal():
    assert retry_decision("invented", Failures(), **LIMITS) is None


def test_budgets_are_independent():
    spent = Failures(environment=3, agent_error=0, drain=9, usage_limit=23)
    assert retry_decision("agent_exit", Failures(environment=3, agent_error=1), **LIMITS) is not None
    assert retry_decision("worker_lost", spent, **LIMITS) is not None
    assert retry_decision("worker_lost", Failures(environment=4), **LIMITS) is None


@given(st.integers(1, 40), st.floats(0.5, 1.0))
def test_the_pause_doubles_from_five_seconds_to_five_minutes(count, share):
    limits = {**LIMITS, "max_environment_retries": 100, "share": share}
    retry = retry_decision("worker_lost", Failures(environment=count), **limits)
    assert retry is not None
    expected = min(300.0, 5.0 * 2 ** (count - 1)) * share
    assert (retry.available_at - AT).total_seconds() == pytest.approx(expected, abs=0.001)
    assert retry.reason == "retry_environment"


def test_a_usage_limit_waits_as_long_as_the_account_says_within_a_week():
    one = Failures(usage_limit=1)
    named = retry_decision("usage_limited", one, retry_at=AT + timedelta(hours=2), **LIMITS)
    unnamed = retry_decision("usage_limited", one, **LIMITS)
    past = retry_decision("usage_limited", one, retry_at=AT - timedelta(hours=2), **LIMITS)
    misread = retry_decision("usage_limited", one, retry_at=AT + timedelta(days=4000), **LIMITS)
    assert [retry and retry.available_at - AT for retry in (named, unnamed, past, misread)] == [
        timedelta(hours=2),
        timedelta(minutes=15),
        timedelta(seconds=5),
        timedelta(days=8),
    ]

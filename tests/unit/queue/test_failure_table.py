"""The table of failure causes, code by code, as operators and workers may rely on it."""

import pytest

from runs.contract.codes import FAILURES, REFUSALS, SERVER_FAILURES, Cause, failure_rule
from runs.queue.attempts.retry import counted_column

ENVIRONMENT, AGENT, FATAL = Cause.ENVIRONMENT, Cause.AGENT_ERROR, Cause.FATAL
COUNTED = {ENVIRONMENT: "environment_failures", AGENT: "agent_error_failures", FATAL: ""}
# code: cause, the counter that it is charged to, tries of its own limit, who writes it
TABLE = {
    "worker_lost": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "server"),
    "lease_expired": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "server"),
    "worker_crashed": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "worker"),
    "adapter_error": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "worker"),
    "adapter_unavailable": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "worker"),
    "workspace_provisioning_error": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "worker"),
    "input_unavailable": (ENVIRONMENT, COUNTED[ENVIRONMENT], None, "worker"),
    "drain_timeout": (ENVIRONMENT, "drain_failures", 10, "worker"),
    "usage_limited": (ENVIRONMENT, "usage_limit_failures", 24, "worker"),
    "released_by_operator": (ENVIRONMENT, "", None, "server"),
    "agent_exit": (AGENT, COUNTED[AGENT], None, "worker"),
    "contract_violation": (AGENT, COUNTED[AGENT], None, "worker"),
    "verification_failed": (AGENT, COUNTED[AGENT], None, "worker"),
    "timeout": (FATAL, "", None, "worker"),
    "deadline_passed": (FATAL, "", None, "server"),
    "budget_exceeded": (FATAL, "", None, "worker"),
    "policy_denied": (FATAL, "", None, "worker"),
    "workspace_integrity": (FATAL, "", None, "worker"),
    "baseline_red": (FATAL, "", None, "worker"),
    "subject_changed": (FATAL, "", None, "worker"),
}


@pytest.mark.parametrize("code", sorted(TABLE))
def test_a_code_has_its_cause_its_counter_and_its_writer(code):
    rule = failure_rule(code)
    writer = "server" if code in SERVER_FAILURES else "worker"
    assert (rule.cause, counted_column(code), rule.limit, writer) == TABLE[code]


def test_the_table_is_whole_and_every_other_code_is_fatal_and_uncounted():
    assert set(FAILURES) == set(TABLE)
    assert not set(FAILURES) & REFUSALS
    assert (failure_rule("invented").cause, counted_column("invented")) == (FATAL, "")

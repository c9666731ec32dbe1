"""The closed lists of codes that server and worker share: outcomes, causes, refusals, errors and reactions."""

from dataclasses import dataclass
from enum import StrEnum


class TerminalState(StrEnum):
    """What one attempt may report as its end; ``cancelled`` is the server's alone."""

    COMPLETED = "completed"
    REFUSED = "refused"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Phase(StrEnum):
    """Where an attempt is, in the order in which heartbeats may name it."""

    LEASED = "leased"
    RUNNING = "running"
    VERIFYING = "verifying"
    PUBLISHING = "publishing"
    STOPPED = "stopped"


class Cause(StrEnum):
    """Who is to blame for a failure, which decides the retry budget it is charged to."""

    ENVIRONMENT = "environment"
    AGENT_ERROR = "agent_error"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class FailureRule:
    """How a failure code is retried: ``counted`` against the run's budget, else up to ``limit`` per run."""

    cause: Cause
    counted: bool = True
    limit: int | None = None


FAILURES: dict[str, FailureRule] = {
    "worker_lost": FailureRule(Cause.ENVIRONMENT),
    "lease_expired": FailureRule(Cause.ENVIRONMENT),
    "worker_crashed": FailureRule(Cause.ENVIRONMENT),
    "adapter_error": FailureRule(Cause.ENVIRONMENT),
    "adapter_unavailable": FailureRule(Cause.ENVIRONMENT),
    "workspace_provisioning_error": FailureRule(Cause.ENVIRONMENT),
    "input_unavailable": FailureRule(Cause.ENVIRONMENT),
    "drain_timeout": FailureRule(Cause.ENVIRONMENT, counted=False, limit=10),
    "usage_limited": FailureRule(Cause.ENVIRONMENT, counted=False, limit=24),
    "released_by_operator": FailureRule(Cause.ENVIRONMENT, counted=False),
    "agent_exit": FailureRule(Cause.AGENT_ERROR),
    "contract_violation": FailureRule(Cause.AGENT_ERROR),
    "verification_failed": FailureRule(Cause.AGENT_ERROR),
    "timeout": FailureRule(Cause.FATAL),
    "deadline_passed": FailureRule(Cause.FATAL),
    "budget_exceeded": FailureRule(Cause.FATAL),
    "policy_denied": FailureRule(Cause.FATAL),
    "workspace_integrity": FailureRule(Cause.FATAL),
    "baseline_red": FailureRule(Cause.FATAL),
    "subject_changed": FailureRule(Cause.FATAL),
}

UNKNOWN_FAILURE = FailureRule(Cause.FATAL)

SERVER_FAILURES = frozenset({"worker_lost", "lease_expired", "released_by_operator", "deadline_passed"})
"""Codes that a worker may not report: the reaper, a late request or an operator writes them."""

AGENT_REFUSALS = frozenset({"missing_input", "permission_denied", "needs_human", "unsupported_capability"})
WORKER_REFUSALS = frozenset(
    {
        "agent_definition_mismatch",
        "unsupported_spec",
        "sandbox_unsupported",
        "command_unresolved",
        "harness_unknown_skill",
        "harness_unknown_command",
        "harness_unknown_subagent",
        "harness_unsupported",
        "harness_unmaterializable",
    }
)
REFUSALS = AGENT_REFUSALS | WORKER_REFUSALS

COMPLETIONS = frozenset({"ok", "result_defaulted"})

LENIENT_CHECKS = frozenset(
    {"missing_result", "result_too_large", "invalid_json", "result_schema", "missing_artifact", "output_schema"}
)
"""Failures that exit 0 and a lenient policy turn into the defaulted result."""


class Reaction(StrEnum):
    """What a worker does about an error of the protocol."""

    GIVE_UP = "R1"
    STOP_CLAIMING = "R2"
    ABANDON = "R3"
    REPORT_FAULT = "R4"
    REPORT_VIOLATION = "R5"
    HOLD_CLAIMS = "hold_claims"
    WAIT_BUSY = "wait_busy"
    OUTDATED = "outdated"
    UPLOAD_AGAIN = "upload_again"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class WireError:
    """HTTP status and reaction of one error code of the worker protocol."""

    http: int
    reaction: Reaction


WIRE_ERRORS: dict[str, WireError] = {
    "malformed": WireError(400, Reaction.GIVE_UP),
    "protocol_unsupported": WireError(400, Reaction.OUTDATED),
    "credential_missing": WireError(401, Reaction.STOP_CLAIMING),
    "credential_unknown": WireError(401, Reaction.STOP_CLAIMING),
    "credential_expired": WireError(401, Reaction.STOP_CLAIMING),
    "credential_revoked": WireError(401, Reaction.STOP_CLAIMING),
    "tls_required": WireError(403, Reaction.HOLD_CLAIMS),
    "wrong_node": WireError(403, Reaction.HOLD_CLAIMS),
    "scope": WireError(403, Reaction.HOLD_CLAIMS),
    "capability_escalation": WireError(403, Reaction.HOLD_CLAIMS),
    "not_found": WireError(404, Reaction.GIVE_UP),
    "fenced": WireError(409, Reaction.ABANDON),
    "lease_expired": WireError(409, Reaction.ABANDON),
    "attempt_terminal": WireError(409, Reaction.ABANDON),
    "illegal_phase": WireError(409, Reaction.REPORT_FAULT),
    "heartbeat_conflict": WireError(409, Reaction.REPORT_FAULT),
    "idempotency_conflict": WireError(409, Reaction.REPORT_FAULT),
    "worker_busy": WireError(409, Reaction.WAIT_BUSY),
    "worker_outdated": WireError(409, Reaction.OUTDATED),
    "length_required": WireError(411, Reaction.REPORT_VIOLATION),
    "too_large": WireError(413, Reaction.REPORT_VIOLATION),
    "digest_mismatch": WireError(422, Reaction.UPLOAD_AGAIN),
    "contract_violation": WireError(422, Reaction.REPORT_VIOLATION),
    "definition_mismatch": WireError(422, Reaction.REPORT_VIOLATION),
    "artifact_not_granted": WireError(422, Reaction.REPORT_VIOLATION),
    "artifact_limit": WireError(422, Reaction.REPORT_VIOLATION),
    "subject_changed": WireError(422, Reaction.REPORT_VIOLATION),
    "rate_limited": WireError(429, Reaction.RETRY),
    "unavailable": WireError(503, Reaction.RETRY),
}

_BY_STATUS = {
    400: Reaction.GIVE_UP,
    401: Reaction.STOP_CLAIMING,
    403: Reaction.HOLD_CLAIMS,
    404: Reaction.GIVE_UP,
    409: Reaction.REPORT_FAULT,
    429: Reaction.RETRY,
}
LOWEST_SERVER_ERROR = 500
LOWEST_CLIENT_ERROR = 400


def failure_rule(code: str) -> FailureRule:
    """The rule of a failure code; a code that nobody knows is fatal."""
    return FAILURES.get(code, UNKNOWN_FAILURE)


def reaction(code: str, http: int) -> Reaction:
    """What to do about an error: by its code, or by the class of its status if the code is new."""
    known = WIRE_ERRORS.get(code)
    if known is not None:
        return known.reaction
    if http >= LOWEST_SERVER_ERROR:
        return Reaction.RETRY
    if http >= LOWEST_CLIENT_ERROR:
        return _BY_STATUS.get(http, Reaction.REPORT_VIOLATION)
    return Reaction.GIVE_UP

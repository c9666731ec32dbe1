"""What an attempt ends with, before it is put on the wire."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runs.contract.canonical import canonical_bytes
from runs.contract.codes import TerminalState
from runs.contract.results import AgentResult, ContractViolation
from runs.contract.wire import LARGEST_DETAIL
from workers.host.adapters.contract import AdapterUnavailable, Outcome, RunRefused
from workers.host.attempt.stop import StopReason
from workers.host.disk.documents import InputUnavailable
from workers.host.process.launcher import SpawnFailed
from workers.host.process.streams import ERROR_TAIL, readable
from workers.host.workspace.checkout import ProvisioningFailed

KEPT_STATES = frozenset(
    {
        "timeout",
        "adapter_error",
        "policy_denied",
        "agent_exit",
        "contract_violation",
        "verification_failed",
        "baseline_red",
    }
)
STOPPED = {
    StopReason.DRAIN: ("drain_timeout", "the worker was asked to leave before the agent had ended"),
    StopReason.BUDGET: ("budget_exceeded", "the reported usage passed what the run may spend"),
    StopReason.CREDENTIAL: ("adapter_error", "the worker's credential was refused until the lease was due"),
    StopReason.FAULT: ("adapter_error", "the control plane refused a heartbeat as faulty"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """State, code and what goes with them; ``keep`` asks for the workspace if the definition retains it."""

    state: TerminalState
    reason: str
    result: AgentResult | None = None
    artifact: Any = None
    status: str = "passed"
    checks: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)
    retry_at: str | None = None
    late: bool = False

    @property
    def keep(self) -> bool:
        """Whether the workspace of such an end is worth keeping."""
        return self.reason in KEPT_STATES


def failed(code: str, /, *, retry_at: str | None = None, **detail: Any) -> Verdict:
    """A failure with its detail, cut to what the wire takes."""
    state = TerminalState.TIMED_OUT if code == "timeout" else TerminalState.FAILED
    return Verdict(state=state, reason=code, detail=_bounded(detail), retry_at=retry_at)


def violation(error: ContractViolation) -> Verdict:
    """The verdict of a failed check."""
    return failed("contract_violation", **{**error.details, "message": error.message})


def refusal(error: RunRefused) -> Verdict:
    """The verdict of a run that the worker refuses before the spawn."""
    return Verdict(
        state=TerminalState.REFUSED,
        reason=error.code,
        status="refused",
        checks=("form",),
        detail=_bounded({"message": str(error)}),
    )


def stopped(reason: StopReason) -> Verdict:
    """The verdict of an attempt that the worker ended, where that alone decides."""
    if reason is StopReason.DEADLINE:
        return failed("timeout", message="the agent's time ended without a usable result")
    code, message = STOPPED[reason]
    return failed(code, message=message)


def of_exception(error: BaseException, adapter: str) -> Verdict:
    """The verdict of an exception that ended preparation or adapter."""
    if isinstance(error, RunRefused):
        return refusal(error)
    if isinstance(error, ContractViolation):
        return violation(error)
    if isinstance(error, AdapterUnavailable):
        return failed("adapter_unavailable", adapter=adapter, reason=error.reason, message=str(error))
    if isinstance(error, InputUnavailable):
        return failed("input_unavailable", step="inputs", message=str(error))
    if isinstance(error, ProvisioningFailed):
        reason = {"reason": error.reason} if error.reason else {}
        return failed(
            "workspace_provisioning_error", step=error.step, exitCode=error.exit_code, tail=str(error), **reason
        )
    reason_word = "spawn_failed" if isinstance(error, SpawnFailed) else type(error).__name__
    return failed("adapter_error", adapter=adapter, reason=reason_word, message=str(error))


def of_exit(outcome: Outcome, adapter: str) -> Verdict | None:
    """The verdict of an end that no result can mend; None for exit code 0."""
    if outcome.failure is not None:
        failure = outcome.failure
        return failed(failure.code, retry_at=failure.retry_at, adapter=adapter, reason=failure.reason,
                      tail=outcome.error_tail)  # fmt: skip
    if outcome.exit_code == 0:
        return None
    if outcome.exit_code is None and outcome.signal is None:
        return failed("adapter_error", adapter=adapter, reason="minder_lost", message="the agent's minder was killed")
    return failed("agent_exit", exitCode=outcome.exit_code, signal=outcome.signal, tail=outcome.error_tail)


def _bounded(detail: Mapping[str, Any]) -> dict[str, Any]:
    cut = {
        key: readable(value, ERROR_TAIL) if isinstance(value, str) else value
        for key, value in detail.items()
        if value is not None
    }
    while len(canonical_bytes(cut)) > LARGEST_DETAIL:
        longest = max(cut, key=lambda key: len(str(cut[key])))
        cut[longest] = str(cut[longest])[: len(str(cut[longest])) // 2]
    return cut

"""The agent steps of flows as runs: building the specification, finding the run again, reading how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import document_hash
from runs.contract.spec import SPEC_VERSION
from runs.definitions.stored import definition_current, definition_document
from runs.flow import AT_REST, RunState
from runs.models import Attempt, Result, Run
from runs.queue.spec_fields import definition_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class FlowStep:
    """Which step of which flow asks; ``entry`` is the key of the log row that entered the step."""

    type: str
    subject: str
    generation: int
    step: str
    entry: int

    @property
    def key(self) -> str:
        """The idempotency key: one entry of a step asks once, however often it is repeated."""
        return f"flow:{self.type}:{self.subject}:g{self.generation}:{self.step}:{self.entry}"


@dataclass(frozen=True, slots=True)
class StepRequest:
    """What a flow asks for; what it leaves out comes from the current definition of the agent."""

    agent_id: str
    flow: FlowStep
    variables: Mapping[str, Any]
    correlation_id: str
    workspace: Mapping[str, Any] = field(default_factory=lambda: {"kind": "ephemeral"})
    repository: str = ""
    exclusive_key: str = ""
    prompt_append: str = ""
    causation_id: str = ""
    subject: str = ""  # empty: the subject of the flow
    priority: int | None = None
    placement: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How far a run has come, as a flow needs it. ``artifact`` is {} for a defaulted result, None without a result."""

    run_id: str
    state: str
    reason_code: str
    cause: str
    at_rest: bool
    attempt: int
    worker_id: str
    first_claimed_at: datetime | None
    ended_at: datetime | None
    result: Mapping[str, Any] | None

    @property
    def completed(self) -> bool:
        """Whether a result was accepted as completed."""
        return self.state == RunState.COMPLETED

    @property
    def defaulted(self) -> bool:
        """Whether the agent gave no usable result, so that the flow takes the default of its table."""
        return self.completed and self.reason_code == "result_defaulted"

    @property
    def artifact(self) -> Any:
        """The agent's own answer."""
        return self.result.get("artifact") if self.result else None

    @property
    def evidence(self) -> Mapping[str, Any]:
        """What the worker observed beside it; empty when there is none."""
        return (self.result.get("evidence") if self.result else None) or {}


def flow_step_spec(request: StepRequest) -> dict[str, Any]:
    """The specification of this step for `run_enqueue`, filled from the agent's current definition.

    Raises Invalid (`unknown_definition`) when no definition of the agent is current. The same request on the same
    definition gives the same document.
    """
    row = definition_current(agent_id=request.agent_id)
    definition = definition_document(row.def_hash)
    variables = dict(request.variables)
    flow = request.flow
    spec: dict[str, Any] = {
        "schemaVersion": SPEC_VERSION,
        **definition_fields(row, definition),
        "input": variables,
        "inputHash": document_hash(variables),
        "subject": request.subject or flow.subject,
        "flow": {
            "type": flow.type,
            "subject": flow.subject,
            "generation": flow.generation,
            "step": flow.step,
            "entry": flow.entry,
        },
        "origin": {"kind": "flow", "source": flow.type},
        "correlationId": request.correlation_id,
        "workspace": {**definition.get("workspace", {}), **request.workspace},
        "idempotencyKey": flow.key,
    }
    optional = {
        "causationId": request.causation_id,
        "repository": request.repository,
        "exclusiveKey": request.exclusive_key,
        "promptAppend": request.prompt_append,
        "placement": {**definition.get("placement", {}), **request.placement},
    }
    spec |= {key: value for key, value in optional.items() if value}
    if request.priority is not None:
        spec["priority"] = request.priority
    return spec


def run_outcome(run: Run) -> RunOutcome:
    """How the run stands now; two small reads beside the row."""
    attempt = Attempt.objects.filter(run=run).order_by("-id").first()
    result = Result.objects.filter(run=run).first()
    return RunOutcome(
        run_id=run.run_id,
        state=run.state,
        reason_code=run.reason_code,
        cause=run.cause,
        at_rest=run.state in AT_REST,
        attempt=run.attempt_number,
        worker_id=attempt.worker_id if attempt else "",
        first_claimed_at=run.first_claimed_at,
        ended_at=run.ended_at,
        result=result.document if result else None,
    )

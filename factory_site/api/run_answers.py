"""What the routes of runs answer, for the published description."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # pydantic reads the annotations
from typing import Any

from pydantic import Field

from factory_site.api.shapes import Wire


class Reason(Wire):
    """A code for programs, words for people."""

    code: str
    text: str


class Waiting(Wire):
    """Why a queued run does not go on."""

    code: str
    text: str
    since: datetime | None
    until: datetime | None


class Failures(Wire):
    """Failed attempts by cause."""

    environment: int
    agent_error: int


class RunRow(Wire):
    """Where a run is, why, and since when."""

    run_id: str
    agent: str
    state: str
    subject: str
    subject_label: str
    repository: str | None
    reason: Reason
    waiting: Waiting | None
    worker: str | None
    node: str | None
    attempt: int
    failures: Failures
    adapter: str | None
    model: str | None
    cost_usd: float | None
    created_at: datetime
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    deadline_at: datetime | None
    heartbeat_due_at: datetime | None
    origin: str


class Started(Wire):
    """The run of a request to start one, and whether this request made it."""

    run_id: str
    created: bool


class RunList(Wire):
    """One window of the runs."""

    items: list[RunRow]
    next_before: str | None


class Usage(Wire):
    """What an attempt used; null: nobody knows."""

    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    turns: int | None
    duration_ms: int | None
    cost_usd: float | None


class Attempt(Wire):
    """One try of a run by one worker."""

    attempt: int
    worker: str
    node: str
    phase: str
    outcome: str | None
    reason_code: str | None
    cause: str | None
    detail: dict[str, Any]
    adapter: str
    model: str | None
    def_hash: str
    prompt_hash: str | None
    claimed_at: datetime
    started_at: datetime | None
    verifying_at: datetime | None
    finished_at: datetime | None
    agent_deadline_at: datetime | None
    deadline_at: datetime | None
    exit_code: int | None
    usage: Usage | None


class Journaled(Wire):
    """One row of a run's hash chain."""

    seq: int
    kind: str
    edge: str | None
    from_: str | None = Field(alias="from")
    to: str | None
    actor: str
    reason_code: str | None
    detail: dict[str, Any]
    attempt: int | None
    at: datetime
    prev_hash: str
    record_hash: str


class Stored(Wire):
    """A stored object that came with the result."""

    kind: str
    name: str
    sha256: str


class FlowStep(Wire):
    """The step of a flow that asked for the run; ``entry`` is the row of its log that entered the step."""

    type: str
    subject: str
    generation: int | None
    step: str
    entry: int | None


class Lineage(Wire):
    """Where a run came from."""

    origin: str
    correlation_id: str | None
    causation_id: str | None
    flow: FlowStep | None


class RunDetail(RunRow):
    """Everything about one run."""

    spec: dict[str, Any]
    spec_hash: str
    def_hash: str
    journal_head: str
    attempts: list[Attempt]
    journal: list[Journaled]
    result: dict[str, Any] | None
    receipt_hash: str | None
    receipt: dict[str, Any] | None
    usage: Usage | None
    lineage: Lineage
    artifacts: list[Stored]


class Receipt(Wire):
    """The hashes that bind a run's specification, definition, result, evidence and journal, as they were made."""

    schema_version: str
    run_id: str
    attempt: int
    spec_hash: str
    def_hash: str
    prompt_hash: Any
    input_hash: Any
    output_contract: Any
    artifact_hash: Any
    evidence_hash: Any
    artifacts: Any
    journal_head: str
    verification: Any
    deadline_extensions: Any
    harness: Any
    adapter: Any
    model: Any
    worker: Any
    usage: Any
    accepted_at: str
    receipt_hash: str


class TraceItem(Wire):
    """One thing that the agent did."""

    seq: int
    at: datetime
    kind: str
    payload: Any


class Trace(Wire):
    """Rows after a cursor, and the cursor to go on with."""

    attempt: int | None
    items: list[TraceItem]
    next_since: int
    ended: bool


class Lack(Wire):
    """What one worker would need to take the run; null: nothing, it fits."""

    worker: str
    busy: bool
    lacks: str | None


class Why(Wire):
    """Why a run waits, and what each live worker lacks for it."""

    run_id: str
    state: str
    waiting: Waiting | None
    workers: list[Lack]

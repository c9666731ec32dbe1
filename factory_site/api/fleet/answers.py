"""What the routes about agents, workers and the doctor answer, for the published description."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # pydantic reads the annotations
from typing import Any

from pydantic import Field

from factory_site.api.answers import Worker
from factory_site.api.shapes import Wire


class WorkerAttempt(Wire):
    """One try of a run by the worker."""

    run_id: str
    attempt: int
    outcome: str | None
    reason_code: str | None
    claimed_at: datetime
    finished_at: datetime | None


class WorkerDetail(Worker):
    """One boot of a worker with its newest attempts."""

    attempts: list[WorkerAttempt]


class AgentPrompt(Wire):
    """Which wording an agent gets."""

    name: str | None
    hash: str | None
    binding: str
    live_since: datetime | None


class AgentRow(Wire):
    """One agent with the figures of its last days."""

    agent: str
    id: str
    version: int
    title: str
    summary: str
    mutating: bool
    adapter: str
    def_hash: str
    is_current: bool
    prompt: AgentPrompt
    days: int
    runs: int
    completed: int
    median_seconds: float | None
    median_cost_usd: float | None
    last_run_ended_at: datetime | None


class AgentList(Wire):
    """Every current agent."""

    items: list[AgentRow]
    next_before: str | None


class FormerAgent(Wire):
    """An earlier version."""

    agent: str
    def_hash: str
    created_at: datetime


class AgentDetail(AgentRow):
    """One agent with its whole definition."""

    definition: dict[str, Any]
    former: list[FormerAgent]


class Wording(Wire):
    """One time that a wording was made live."""

    hash: str
    source: str
    by: str
    note: str
    from_: datetime = Field(alias="from")
    until: datetime | None
    attempts: int
    completed: int


class PromptAnswer(Wire):
    """The wording that an agent gets now, and those before it."""

    agent: str
    name: str | None
    binding: str
    hash: str | None
    file_hash: str | None
    text: str | None
    versions: list[Wording]


class FindingShown(Wire):
    """Something that is wrong, and the command that mends it."""

    code: str
    level: str
    count: int
    since: datetime | None
    text: str
    examples: list[str]
    mend: str


class Findings(Wire):
    """Everything that is wrong now, anomalies first."""

    items: list[FindingShown]

"""What pages and API show of a pull request: frozen, in the product's own names; ``wire`` spells them for the API."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class PullRow:
    """One row of a list. ``stage`` is the state of the flow that drives it now."""

    pr_key: str
    title: str
    url: str
    repository: str
    number: int
    author: str
    state: str
    stage: str
    round: int
    max_rounds: int
    generation: int
    head_sha: str
    updated_at: datetime
    stage_since: datetime | None
    next_look_at: datetime | None
    last_look_error: str


@dataclass(frozen=True, slots=True)
class PullPage:
    """A page of the list; ``next_cursor`` is blank on the last one."""

    items: Sequence[PullRow]
    next_cursor: str


@dataclass(frozen=True, slots=True)
class Counter:
    """How often something was done, and how often it may be."""

    now: int
    max: int


@dataclass(frozen=True, slots=True)
class Nudges:
    """Requests for a review of the present head."""

    now: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of the newest submission."""

    round: Counter
    husk_retries: Counter
    ack_retries: Counter
    nudges: Nudges


@dataclass(frozen=True, slots=True)
class TurnShown:
    """One start of the agent; ``cost`` in USD, None when nobody knows it."""

    turn: int
    run_id: str
    outcome: str
    status: str
    raw_status: str
    question: str
    answer: str
    probe: str
    entry_head: str
    exit_head: str
    prompt_hash: str
    backlog_hash: str
    cost: float | None
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ReviewShown:
    """A review and the commit it counts for, with why it counts for none."""

    id: str
    reviewer: str
    state: str
    submitted_at: datetime
    counts_for: str
    void_reason: str
    consumed_round: int | None


@dataclass(frozen=True, slots=True)
class FindingCounts:
    """How the findings stood at the entry of a round, against the entry before."""

    open: int
    new: int
    repeat: int
    reopened: int
    gone: int


@dataclass(frozen=True, slots=True)
class StatusShown:
    """How one finding stood at the entry of a round; ``how`` of one that is gone: fixed, declined, vanished."""

    round: int
    trend: str
    how: str


@dataclass(frozen=True, slots=True)
class FindingShown:
    """One finding with its history; ``text`` holds its first words, from outside."""

    kind: str
    id: str
    fingerprint: str
    author: str
    path: str
    text: str
    url: str
    is_open: bool
    closed_as: str
    reopened: int
    history: Sequence[StatusShown]


@dataclass(frozen=True, slots=True)
class WaiverShown:
    """What a person let pass at one head; ``target`` is blank where that is the missing review."""

    head: str
    kind: str
    target: str
    escalation_id: int
    given_by: str
    given_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class GateCheckShown:
    """One answer of the gate: what it counted, and ids of what kept it from passing."""

    generation: int
    round: int
    result: str
    reason: str
    head: str
    counts: Mapping[str, int]
    left: Mapping[str, Sequence[str]]
    waived: int
    at: datetime


@dataclass(frozen=True, slots=True)
class ScopeShown:
    """What became of the newest scope check: passed, blocked or unchecked with the cause; blank before the first."""

    result: str
    detail: str


@dataclass(frozen=True, slots=True)
class RoundShown:
    """One round with its turns and the reviews that it was given."""

    generation: int
    number: int
    status: str
    raw_status: str
    summary: str
    entry_head: str
    exit_head: str
    started_at: datetime
    ended_at: datetime | None
    findings: FindingCounts | None  # None: not read at its entry
    cost: float | None
    turns: Sequence[TurnShown]
    reviews: Sequence[ReviewShown]


@dataclass(frozen=True, slots=True)
class EscalationShown:
    """One question, and its answer if there is one."""

    id: int
    task_id: int
    flow: str
    generation: int
    round: int
    reason: str
    kind: str
    question: str
    state: str
    asked_at: datetime
    due_at: datetime
    answered_at: datetime | None
    answered_by: str
    answer: str
    resolution: str
    auto_applied: bool
    reverted_at: datetime | None
    reverted_by: str


@dataclass(frozen=True, slots=True)
class TransitionShown:
    """One edge that a flow took."""

    id: int
    flow: str
    generation: int
    from_state: str
    to_state: str
    edge: str
    event: str
    guards: Mapping[str, Any]
    actor: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RunShown:
    """One run about the pull request."""

    run_id: str
    agent: str
    state: str
    reason_code: str
    generation: int | None
    step: str
    attempt: int
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class GateShown:
    """What the gate said last."""

    result: str
    reason: str
    head: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ReviewerShown:
    """A configured reviewer and whether the forge lets it be requested here."""

    name: str
    available: bool
    unavailable_until: datetime | None
    ignored_count: int
    detail: str


@dataclass(frozen=True, slots=True)
class PullDetail:
    """Everything of one pull request that convergence knows.

    ``waiting_for`` is the API's object, None at the end; ``rests_because`` says why a converged one is left to people.
    """

    pr_key: str
    title: str
    url: str
    author: str
    state: str
    stage: str
    round: int
    max_rounds: int
    generation: int
    head_ref: str
    head_sha: str
    base_ref: str
    auto_merge: bool
    outcome: str
    rests_because: str | None
    submitted_by: str
    submitted_at: datetime
    warnings: Sequence[str]
    counters: Counters
    waiting_for: Mapping[str, Any] | None
    rounds: Sequence[RoundShown]
    escalations: Sequence[EscalationShown]
    transitions: Sequence[TransitionShown]
    runs: Sequence[RunShown]
    gate: GateShown | None
    scope: ScopeShown
    reviewers: Sequence[ReviewerShown]
    findings: Sequence[FindingShown]
    waivers: Sequence[WaiverShown]


def wire(value: Any) -> Any:
    """The value as the API spells it: dataclasses become objects with camelCase keys; mappings are left as they are."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {camel(field.name): wire(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [wire(item) for item in value]
    return value


def camel(name: str) -> str:
    """``stage_since`` as ``stageSince``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)

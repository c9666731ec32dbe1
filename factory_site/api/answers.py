"""What the routes answer, for the published description; tests hold it against what they really answer."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # pydantic reads the annotations
from typing import Any

from pydantic import Field

from convergence.selectors.shapes import PullDetail as PullDetailShown
from convergence.selectors.shapes import PullRow as PullRowShown
from convergence.selectors.shapes import TransitionShown
from factory_site.api.fleet.limit_answers import DaySpend, PauseRow  # noqa: TC001  # pydantic reads the annotations
from factory_site.api.shapes import Wire, wire_schema


class Wanted(Wire):
    """One fact that would move a waiting subject on: how it is now, and how it would have to be."""

    fact: str
    now: str
    need: str


class WaitingFor(Wire):
    """Why something waits, since when, until when, and what would move it on."""

    reason: str
    sentence: str
    since: datetime | None
    due_at: datetime | None
    would_move_on: list[Wanted]
    last_look_at: datetime | None
    last_look_error: str | None
    next_look_at: datetime | None
    paused_by: str | None


class Counted(Wire):
    """A counter and its limit; nudges have an instant instead of a limit."""

    now: int
    max: int | None = None
    last_at: datetime | None = None


class FailingCheck(Wire):
    """A check that fails and holds the head back."""

    name: str
    producer: str
    conclusion: str
    url: str | None


class DeclaredCheck(Wire):
    """A check that the base demands, over every producer of its name: accepted, failing, running or missing."""

    name: str
    state: str


class Mergeability(Wire):
    """What was read last about merging the head."""

    verdict: str
    reason: str | None
    read_at: datetime | None
    head_sha: str
    failing_checks: list[FailingCheck]
    declared_checks: list[DeclaredCheck]
    inputs: str | None


class MergeAttempt(Wire):
    """One merge call and what became of it."""

    outcome: str | None
    reason: str | None
    method: str | None
    method_reason: str | None
    head_sha: str
    admin: bool
    landed_sha: str | None
    actor: str | None
    message: str | None
    sent_at: datetime | None
    at: datetime


class Dependency(Wire):
    """A pull request that is to merge first: clear, waiting or dead."""

    key: str
    source: str
    state: str
    note: str | None
    added_by: str
    added_at: datetime
    read_at: datetime | None
    dropped_by: str | None
    dropped_at: datetime | None
    drop_reason: str | None


class Lane(Wire):
    """The pull requests that land one after another, and who goes before this one."""

    order: list[str]
    ahead: list[str]
    passed_by: str | None


class Hold(Wire):
    """What a plan holds it with."""

    kind: str
    group: str
    set_by: str
    set_at: datetime


class Protocol(Wire):
    """What the base branch declares about landing, as read last."""

    source: str | None
    valid: bool
    error: str | None
    warnings: list[str]
    read_at: datetime


class _Edge(Wire):
    """From where to where; blank: the flow began."""

    from_: str = Field(alias="from")
    to: str


Transition = wire_schema(TransitionShown, _Edge, without=("from_state", "to_state"))


class _Driven(Wire):
    """The keys of a detail whose shape is not the dataclass's own."""

    base_ref: str | None
    counters: dict[str, Counted]
    waiting_for: WaitingFor | None
    transitions: list[Transition]  # type: ignore[valid-type]  # made from its dataclass
    mergeability: Mergeability | None
    merge_attempts: list[MergeAttempt]
    landed_sha: str | None
    dependencies: list[Dependency]
    lane: Lane | None
    holds: list[Hold]
    merge_protocol: Protocol | None


PullRow = wire_schema(PullRowShown)
PullDetail = wire_schema(PullDetailShown, _Driven)


class PullList(Wire):
    """One window of the pull requests."""

    items: list[PullRow]  # type: ignore[valid-type]  # made from its dataclass
    next_before: str | None


class Submitted(Wire):
    """What became of a submission."""

    pr_key: str
    state: str
    round: int
    generation: int
    already_running: bool
    ignored: list[str]
    warnings: list[str]


class PullState(Wire):
    """A pull request's key and state."""

    pr_key: str
    state: str


class Probed(Wire):
    """A reviewer that will be asked again, and until when it would not have been."""

    repository: str
    reviewer: str
    was_unavailable_until: datetime | None


class LookAt(Wire):
    """When it is looked at."""

    pr_key: str
    look_at: datetime


class Task(Wire):
    """A question to a person, with its form and, once given, its answer."""

    id: int
    kind: str
    subject: str
    subject_label: str
    question: str
    form: dict[str, Any]
    context: str
    seen_hash: str
    created_at: datetime
    due_at: datetime
    state: str
    answered_at: datetime | None
    answered_by: str | None
    variables: dict[str, Any] | None
    closed_at: datetime | None
    closed_reason: str | None
    reminded_at: datetime | None
    reminder_count: int
    taken_by: str | None
    taken_until: datetime | None
    snoozed_until: datetime | None
    reverted_at: datetime | None
    reverted_by: str | None
    history: list[dict[str, Any]]


class TaskList(Wire):
    """One window of the human tasks."""

    items: list[Task]
    next_before: str | None


class Worker(Wire):
    """One boot of a worker, with the state that follows from what was heard of it."""

    worker_id: str
    node: str
    host: str
    pid: int | None
    pool: str
    slot: int | None
    version: str
    state: str
    draining: bool
    drain_requested_at: datetime | None
    drain_requested_by: str
    drain_reason: str
    blocked_reason: str
    quarantined: int
    run_id: str | None
    attempt: int | None
    subject_label: str
    heartbeat_due_at: datetime | None
    offer: dict[str, Any]
    health: dict[str, Any]
    clock_skew_ms: int | None
    started_at: datetime
    last_seen_at: datetime
    stopped_at: datetime | None
    stop_reason: str


class WorkerList(Wire):
    """One window of the workers."""

    items: list[Worker]
    next_before: str | None


class Pool(Wire):
    """One pool of a machine, as its supervisor last reported it; without a report most is unknown."""

    node: str
    name: str
    host: str
    supervisor: str
    workers: dict[str, int]
    min: int | None
    max: int | None
    starting: int
    claimable: int | None
    action: str
    reason: str
    since: datetime | None
    short_since: datetime | None
    stuck_since: datetime | None
    crashes: int
    last_line: str
    seen_at: datetime | None


class Queue(Wire):
    """The run that has been queued for longest, what is ready, rests or is held back, and what runs."""

    oldest_queued_at: datetime | None
    run_id: str | None
    ready: int
    backoff: int
    held: dict[str, int]
    running: int
    oldest_ready_at: datetime | None


class Control(Wire):
    """The database behind everything, and when lost attempts were last looked for."""

    database: str
    database_bytes: int
    reaper_at: datetime | None


class OpenTasks(Wire):
    """How many questions are open, and how many of them are overdue."""

    open: int
    overdue: int


class Anomaly(Wire):
    """Something that is wrong now, and the command that mends it."""

    code: str
    subject: str
    text: str
    count: int
    mend: str


class ForgeBudgetAnswer(Wire):
    """What is left of one hourly budget."""

    limit: int | None
    remaining: int | None
    reset_at: datetime | None


class ForgeAnswer(Wire):
    """How things stand with the forge, by the credential that was used last."""

    credential: str
    login: str | None
    level: str
    core: ForgeBudgetAnswer
    graphql: ForgeBudgetAnswer
    blocked_until: datetime | None
    reason: str | None
    failing_since: datetime | None
    batch_size: int | None


class StatusAnswer(Wire):
    """What is going on."""

    version: str
    at: datetime
    control: Control
    pull_requests: dict[str, int]
    runs: dict[str, int]
    workers: dict[str, int]
    pools: list[Pool]
    queue: Queue
    tasks: OpenTasks
    spend: DaySpend
    pauses: list[PauseRow]
    forge: ForgeAnswer | None
    oldest_due_seconds: float
    anomalies: list[Anomaly]

"""The run's state machine: who moves a run, from where to where."""

from enum import StrEnum

from runs.machine import Edge, Kind, Machine, State, Tone


class RunState(StrEnum):
    """States of a run. Held: exactly one unfinished attempt. At rest: nothing moves it but an operator's retry."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    QUEUED = "queued"
    LEASED = "leased"
    RUNNING = "running"
    VERIFYING = "verifying"
    COMPLETED = "completed"
    REFUSED = "refused"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


S = RunState
HELD = (S.LEASED, S.RUNNING, S.VERIFYING)
AT_REST = (S.COMPLETED, S.REFUSED, S.FAILED, S.TIMED_OUT, S.CANCELLED)
LIVE = (S.PROPOSED, S.APPROVED, S.QUEUED, *HELD)

RUN_MACHINE = Machine(
    "run",
    [
        State(S.PROPOSED, Kind.HUMAN, "Proposed", "◌", Tone.IDLE),
        State(S.APPROVED, Kind.AUTOMATIC, "Approved", "○", Tone.IDLE),
        State(S.QUEUED, Kind.EXTERNAL, "Queued", "▤", Tone.WAIT),
        State(S.LEASED, Kind.AGENT, "Leased", "◉", Tone.MOVE),
        State(S.RUNNING, Kind.AGENT, "Running", "◐", Tone.MOVE),
        State(S.VERIFYING, Kind.AGENT, "Verifying", "⌕", Tone.MOVE),
        State(S.COMPLETED, Kind.TERMINAL, "Completed", "✓", Tone.GOOD),
        State(S.REFUSED, Kind.TERMINAL, "Refused", "⊘", Tone.OFF),
        State(S.FAILED, Kind.HUMAN, "Failed", "✕", Tone.BAD),
        State(S.TIMED_OUT, Kind.TERMINAL, "Timed out", "◷", Tone.BAD),
        State(S.CANCELLED, Kind.TERMINAL, "Cancelled", "–", Tone.OFF),
    ],
    [
        Edge("propose", (), S.PROPOSED, "planned", ("planner",)),
        Edge("enqueue", (), S.QUEUED, "enqueued", ("flow", "operator")),
        Edge("approve", (S.PROPOSED,), S.APPROVED, "approved", ("operator", "gate")),
        Edge("queue", (S.APPROVED,), S.QUEUED, "queued", ("operator", "gate")),
        Edge(
            "cancel",
            (S.PROPOSED, S.APPROVED, S.QUEUED, *HELD),
            S.CANCELLED,
            "cancelled",
            ("operator", "flow", "planner", "sweep"),
        ),
        Edge("claim", (S.QUEUED,), S.LEASED, "claimed", ("worker",)),
        Edge("start", (S.LEASED,), S.RUNNING, "started", ("worker",)),
        Edge("verify", (S.RUNNING,), S.VERIFYING, "agent_ended", ("worker",)),
        Edge("complete", (S.VERIFYING,), S.COMPLETED, "published", ("worker",)),
        Edge("refuse", (S.LEASED, S.VERIFYING), S.REFUSED, "refused", ("worker",)),
        Edge("fail", HELD, S.FAILED, "failed", ("worker", "reaper", "operator")),
        Edge("time_out", (S.RUNNING, S.VERIFYING), S.TIMED_OUT, "timed_out", ("worker", "reaper")),
        Edge("retry", (S.FAILED,), S.QUEUED, "retried", ("retry_rule", "operator")),
    ],
    resting=(S.FAILED,),
)

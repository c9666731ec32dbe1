"""The human task's state machine."""

from enum import StrEnum

from runs.machine import Edge, Kind, Machine, State, Tone


class TaskState(StrEnum):
    """States of a human task."""

    OPEN = "open"
    ANSWERED = "answered"
    AUTO_ANSWERED = "auto_answered"
    REVERTED = "reverted"
    CLOSED = "closed"


ENDED_WITH_ANSWER = (TaskState.ANSWERED, TaskState.AUTO_ANSWERED)

TASK_MACHINE = Machine(
    "task",
    [
        State(TaskState.OPEN, Kind.HUMAN, "Open", "⚑", Tone.YOU),
        State(TaskState.ANSWERED, Kind.HUMAN, "Answered", "✓", Tone.GOOD),
        State(TaskState.AUTO_ANSWERED, Kind.HUMAN, "Answered automatically", "↻", Tone.GOOD),
        State(TaskState.REVERTED, Kind.TERMINAL, "Undone", "→", Tone.OFF),
        State(TaskState.CLOSED, Kind.TERMINAL, "No longer needed", "–", Tone.OFF),
    ],
    [
        Edge("ask", (), TaskState.OPEN, "asked", ("flow",)),
        Edge("recall", (), TaskState.AUTO_ANSWERED, "recalled", ("flow",)),
        Edge("answer", (TaskState.OPEN,), TaskState.ANSWERED, "answered", ("operator",)),
        Edge("withdraw", (TaskState.OPEN,), TaskState.CLOSED, "moved_on", ("flow",)),
        Edge("revert", ENDED_WITH_ANSWER, TaskState.REVERTED, "reverted", ("operator",)),
    ],
    resting=ENDED_WITH_ANSWER,
)

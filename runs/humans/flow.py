"""The human task's state machine."""

from enum import StrEnum

from runs.machine import Edge, Kind, Machine, State, Tone


class TaskState(StrEnum):
    """States of a human task."""

    OPEN = "open"
    ANSWERED = "answered"
    CLOSED = "closed"


TASK_MACHINE = Machine(
    "task",
    [
        State(TaskState.OPEN, Kind.HUMAN, "Open", "⚑", Tone.YOU),
        State(TaskState.ANSWERED, Kind.TERMINAL, "Answered", "✓", Tone.GOOD),
        State(TaskState.CLOSED, Kind.TERMINAL, "No longer needed", "–", Tone.OFF),
    ],
    [
        Edge("ask", (), TaskState.OPEN, "asked", ("flow",)),
        Edge("answer", (TaskState.OPEN,), TaskState.ANSWERED, "answered", ("operator",)),
        Edge("withdraw", (TaskState.OPEN,), TaskState.CLOSED, "moved_on", ("flow",)),
    ],
)

"""How each state looks: taken from the machine's own table, or stated here for facts that no machine owns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergence.flow import CONVERGENCE_MACHINE, PullState
from convergence.models import EscalationState, RoundStatus
from merging.flow import MERGE_MACHINE
from runs.flow import RUN_MACHINE
from runs.humans.flow import TASK_MACHINE
from runs.machine import Tone
from workers.liveness import WorkerState
from workers.selectors.pools import SupervisorState

if TYPE_CHECKING:
    from runs.machine import Machine


@dataclass(frozen=True, slots=True)
class Badge:
    """A state on screen: always glyph, word and tone together."""

    glyph: str
    word: str
    tone: Tone


def _of(machine: Machine) -> dict[str, Badge]:
    return {value: Badge(state.glyph, state.word, state.tone) for value, state in machine.states.items()}


P = PullState
BADGES: dict[str, dict[str, Badge]] = {
    "run": _of(RUN_MACHINE),
    "task": _of(TASK_MACHINE),
    "convergence": _of(CONVERGENCE_MACHINE),
    "merge": _of(MERGE_MACHINE),
    "pull": {
        P.CONVERGING: Badge("◐", "Converging", Tone.MOVE),
        P.WAITING_REVIEW: Badge("◎", "Waiting for review", Tone.WAIT),
        P.ESCALATED: Badge("⚑", "Escalated", Tone.YOU),
        P.CONVERGED: Badge("✓", "Converged", Tone.GOOD),
        P.WAITING_DEPS: Badge("⋈", "Waiting for dependencies", Tone.WAIT),
        P.WAITING_MERGE: Badge("⧗", "Waiting to merge", Tone.WAIT),
        P.WAITING_LANE: Badge("⇉", "Waiting for its lane", Tone.WAIT),
        P.QUEUED: Badge("▤", "In the merge queue", Tone.WAIT),
        P.MERGING: Badge("→", "Merging", Tone.MOVE),
        P.MERGED: Badge("⊕", "Merged", Tone.GOOD),
        P.ABANDONED: Badge("–", "Abandoned", Tone.OFF),
    },
    "round": {
        RoundStatus.RUNNING: Badge("◐", "Running", Tone.MOVE),
        RoundStatus.ADDRESSED: Badge("→", "Addressed", Tone.GOOD),
        RoundStatus.CONVERGED: Badge("✓", "Converged", Tone.GOOD),
        RoundStatus.NEEDS_INPUT: Badge("⚑", "Needs input", Tone.YOU),
        RoundStatus.BLOCKED: Badge("⊘", "Blocked", Tone.YOU),
    },
    "turn": {
        "progressed": Badge("✓", "Progressed", Tone.GOOD),
        "husk": Badge("◌", "Husk", Tone.BAD),
        "no_advance": Badge("!", "No advance", Tone.YOU),
        "": Badge("?", "Unknown", Tone.WAIT),
    },
    "gate": {
        "ok": Badge("✓", "Ok", Tone.GOOD),
        "stale": Badge("↻", "Stale", Tone.WAIT),
        "blocked": Badge("⊘", "Blocked", Tone.BAD),
        "ack_only": Badge("+", "Ack only", Tone.WAIT),
        "unreadable": Badge("?", "Unreadable", Tone.WAIT),
    },
    "scope": {
        "passed": Badge("✓", "Delivers what it closes", Tone.GOOD),
        "blocked": Badge("⚑", "Scope asked about", Tone.YOU),
        "unchecked": Badge("!", "Scope unchecked", Tone.YOU),
    },
    "escalation": {
        EscalationState.OPEN: Badge("⚑", "Open", Tone.YOU),
        EscalationState.ANSWERED: Badge("✓", "Answered", Tone.GOOD),
        EscalationState.STALE: Badge("–", "Stale", Tone.OFF),
    },
    "attempt": {
        "": Badge("◐", "On the wire", Tone.MOVE),
        "merged": Badge("⊕", "Merged", Tone.GOOD),
        "queued": Badge("▤", "In the merge queue", Tone.WAIT),
        "retry": Badge("↻", "Retry", Tone.WAIT),
        "blocked": Badge("⊘", "Blocked", Tone.BAD),
        "evicted": Badge("!", "Evicted", Tone.BAD),
        "abandoned": Badge("–", "Abandoned", Tone.OFF),
    },
    "worker": {
        WorkerState.IDLE: Badge("○", "Idle", Tone.IDLE),
        WorkerState.BUSY: Badge("◐", "Busy", Tone.MOVE),
        WorkerState.DRAINING: Badge("→", "Draining", Tone.WAIT),
        WorkerState.BLOCKED: Badge("!", "Blocked", Tone.YOU),
        WorkerState.LOST: Badge("◷", "Lost", Tone.BAD),
        WorkerState.STOPPED: Badge("–", "Stopped", Tone.OFF),
    },
    "supervisor": {
        SupervisorState.LIVE: Badge("●", "Live", Tone.GOOD),
        SupervisorState.STOPPING: Badge("→", "Stopping", Tone.WAIT),
        SupervisorState.DEAD: Badge("✕", "Dead", Tone.BAD),
        SupervisorState.ABSENT: Badge("?", "Absent", Tone.YOU),
    },
    "declared": {
        "accepted": Badge("✓", "Passed", Tone.GOOD),
        "failing": Badge("✕", "Failed", Tone.BAD),
        "running": Badge("◐", "In flight", Tone.MOVE),
        "missing": Badge("◌", "Missing", Tone.WAIT),
    },
    "dependency": {
        "clear": Badge("✓", "Clear", Tone.GOOD),
        "waiting": Badge("⧗", "Waiting", Tone.WAIT),
        "dead": Badge("✕", "Closed", Tone.BAD),
        "dropped": Badge("–", "Dropped", Tone.OFF),
    },
    "verdict": {
        "ready": Badge("✓", "Ready", Tone.GOOD),
        "waiting": Badge("⧗", "Waiting", Tone.WAIT),
        "blocked": Badge("⊘", "Blocked", Tone.BAD),
        "conflict": Badge("✕", "Conflict", Tone.BAD),
        "draft": Badge("◌", "Draft", Tone.YOU),
    },
}


def badge(machine: str, state: str) -> Badge:
    """How this state looks; a state without an entry shows its own name, so that nothing is ever blank."""
    found = BADGES.get(machine, {}).get(state)
    return found or Badge("?", state.replace("_", " ").capitalize() or "Unknown", Tone.WAIT)

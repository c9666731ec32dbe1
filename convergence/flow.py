"""The convergence flow's state machine: from a submitted pull request to one with nothing actionable left."""

from enum import StrEnum

from convergence import guards as g
from runs.machine import Edge, Kind, Machine, State, Tone


class ConvergenceState(StrEnum):
    """States of the flow."""

    CAPTURE_HEAD = "capture_head"
    REVIEW_ROUND = "review_round"
    CHECK_PROGRESS = "check_progress"
    AWAIT_REVIEW = "await_review"
    CONVERGE_GATE = "converge_gate"
    SCOPE_CHECK = "scope_check"
    AWAIT_ANSWER = "await_answer"
    CONVERGED = "converged"
    MERGED = "merged"
    ABANDONED = "abandoned"


class PullState(StrEnum):
    """What people filter pull requests by; each flow state names the one that it shows."""

    CONVERGING = "converging"
    WAITING_REVIEW = "waiting_review"
    ESCALATED = "escalated"
    CONVERGED = "converged"
    WAITING_DEPS = "waiting_deps"
    WAITING_MERGE = "waiting_merge"
    WAITING_LANE = "waiting_lane"
    QUEUED = "queued"
    MERGING = "merging"
    MERGED = "merged"
    ABANDONED = "abandoned"


FINAL_PULL_STATES = (PullState.CONVERGED, PullState.MERGED, PullState.ABANDONED)

S = ConvergenceState
P = PullState
WORKING = (
    S.CAPTURE_HEAD,
    S.REVIEW_ROUND,
    S.CHECK_PROGRESS,
    S.AWAIT_REVIEW,
    S.CONVERGE_GATE,
    S.SCOPE_CHECK,
    S.AWAIT_ANSWER,
)
LOOK = ("poller", "timer")

# fmt: off
CONVERGENCE_MACHINE = Machine(
    "convergence",
    [
        State(S.CAPTURE_HEAD, Kind.AUTOMATIC, "Reading the head", "◌", Tone.MOVE, P.CONVERGING),
        State(S.REVIEW_ROUND, Kind.AGENT, "Agent at work", "◐", Tone.MOVE, P.CONVERGING),
        State(S.CHECK_PROGRESS, Kind.AUTOMATIC, "Checking progress", "⌕", Tone.MOVE, P.CONVERGING),
        State(S.AWAIT_REVIEW, Kind.EXTERNAL, "Waiting for review", "◎", Tone.WAIT, P.WAITING_REVIEW),
        State(S.CONVERGE_GATE, Kind.AUTOMATIC, "At the gate", "⧗", Tone.MOVE, P.CONVERGING),
        State(S.SCOPE_CHECK, Kind.AGENT, "Checking the scope", "◉", Tone.MOVE, P.CONVERGING),
        State(S.AWAIT_ANSWER, Kind.HUMAN, "Waiting for an answer", "⚑", Tone.YOU, P.ESCALATED),
        State(S.CONVERGED, Kind.TERMINAL, "Converged", "✓", Tone.GOOD, P.CONVERGED),
        State(S.MERGED, Kind.TERMINAL, "Merged", "⊕", Tone.GOOD, P.MERGED),
        State(S.ABANDONED, Kind.TERMINAL, "Abandoned", "–", Tone.OFF, P.ABANDONED),
    ],
    [
        Edge("submitted", (), S.CAPTURE_HEAD, "submit", ("operator", "flow")),
        # Out of band, before everything else.
        Edge("merged_elsewhere", WORKING, S.MERGED, "look", LOOK, (g.pull_merged,)),
        Edge("closed_elsewhere", WORKING, S.ABANDONED, "look", LOOK, (g.pull_closed,)),
        Edge("cancelled", WORKING, S.ABANDONED, "cancel", ("operator",)),
        Edge("unreachable", WORKING[:-1], S.AWAIT_ANSWER, "look", LOOK, (g.pull_unreachable,), "unreachable"),
        # The answer in use was taken back before its turn ended.
        Edge("answer_reverted", (S.CAPTURE_HEAD, S.REVIEW_ROUND), S.AWAIT_ANSWER, "look", LOOK, (g.answer_reverted, g.run_going), "answer_reverted"),
        # A turn begins.
        Edge("entry_captured", (S.CAPTURE_HEAD,), S.REVIEW_ROUND, "look", LOOK, (g.settled, g.head_repository_known)),
        # The agent's turn ended.
        Edge("claimed_converged", (S.REVIEW_ROUND,), S.CONVERGE_GATE, "look", LOOK, (g.status_converged,)),
        Edge("answer_recalled", (S.REVIEW_ROUND,), S.CAPTURE_HEAD, "look", LOOK, (g.asks_anything, g.remembered)),
        Edge("asked_input", (S.REVIEW_ROUND,), S.AWAIT_ANSWER, "look", LOOK, (g.asks_input,), "needs_input"),
        Edge("asked_blocked", (S.REVIEW_ROUND,), S.AWAIT_ANSWER, "look", LOOK, (g.asks_blocked,), "blocked"),
        Edge("turn_addressed", (S.REVIEW_ROUND,), S.CHECK_PROGRESS, "look", LOOK, (g.run_completed,)),
        Edge("run_refused", (S.REVIEW_ROUND,), S.AWAIT_ANSWER, "look", LOOK, (g.run_refused_or_fatal,), "run_refused"),
        Edge("run_cancelled", (S.REVIEW_ROUND,), S.AWAIT_ANSWER, "look", LOOK, (g.run_cancelled_by_person,), "run_cancelled"),
        Edge("turn_lost", (S.REVIEW_ROUND,), S.CHECK_PROGRESS, "look", LOOK, (g.run_ended_otherwise,)),
        Edge("agent_sla_passed", (S.REVIEW_ROUND,), S.AWAIT_ANSWER, "look", LOOK, (g.timer_passed,), "agent_sla"),
        # Did the turn move the branch?
        Edge("round_cap_reached", (S.CHECK_PROGRESS,), S.AWAIT_ANSWER, "look", LOOK, (g.settled, g.progressed, g.at_round_cap), "round_cap"),
        Edge("churn_detected", (S.CHECK_PROGRESS,), S.AWAIT_ANSWER, "look", LOOK, (g.settled, g.progressed, g.churn), "churn"),
        Edge("progressed", (S.CHECK_PROGRESS,), S.AWAIT_REVIEW, "look", LOOK, (g.settled, g.progressed)),
        Edge("husk_retried", (S.CHECK_PROGRESS,), S.CAPTURE_HEAD, "look", LOOK, (g.settled, g.husk, g.husk_retries_left)),
        Edge("husk_exhausted", (S.CHECK_PROGRESS,), S.AWAIT_ANSWER, "look", LOOK, (g.settled, g.husk), "husk_exhausted"),
        Edge("no_advance", (S.CHECK_PROGRESS,), S.AWAIT_ANSWER, "look", LOOK, (g.settled,), "no_advance"),
        # Waiting for the reviewer.
        Edge("empty_review_arrived", (S.AWAIT_REVIEW,), S.CONVERGE_GATE, "look", LOOK, (g.fresh_review, g.only_empty_reviews)),
        Edge("review_arrived", (S.AWAIT_REVIEW,), S.CAPTURE_HEAD, "look", LOOK, (g.fresh_review,)),
        Edge("stale_no_more", (S.AWAIT_REVIEW,), S.CONVERGE_GATE, "look", LOOK, (g.stale_cause_gone,)),
        Edge("reviewer_unavailable_passed", (S.AWAIT_REVIEW,), S.CONVERGE_GATE, "look", LOOK, (g.nobody_requestable, g.proceeds_without_reviewer)),
        Edge("reviewer_unavailable", (S.AWAIT_REVIEW,), S.AWAIT_ANSWER, "look", LOOK, (g.nobody_requestable,), "reviewer_unavailable"),
        Edge("review_stalled", (S.AWAIT_REVIEW,), S.AWAIT_ANSWER, "look", LOOK, (g.was_read, g.timer_passed), "review_stalled"),
        # The gate, which fails closed.
        Edge("gate_passed", (S.CONVERGE_GATE,), S.CONVERGED, "look", LOOK, (g.gate_ok, g.no_scope_due), effects=("hand_over",)),
        Edge("scope_asked", (S.CONVERGE_GATE,), S.SCOPE_CHECK, "look", LOOK, (g.gate_ok,)),
        Edge("gate_stale", (S.CONVERGE_GATE,), S.AWAIT_REVIEW, "look", LOOK, (g.gate_stale,)),
        Edge("ack_repeated", (S.CONVERGE_GATE,), S.CAPTURE_HEAD, "look", LOOK, (g.gate_ack_only, g.ack_retries_left)),
        Edge("ack_budget_spent", (S.CONVERGE_GATE,), S.AWAIT_ANSWER, "look", LOOK, (g.gate_ack_only,), "ack_budget_spent"),
        Edge("gate_blocked", (S.CONVERGE_GATE,), S.AWAIT_ANSWER, "look", LOOK, (g.gate_blocked,), "unaddressed_comments"),
        Edge("gate_unverifiable", (S.CONVERGE_GATE,), S.AWAIT_ANSWER, "look", LOOK, (g.gate_unverifiable,), "gate_unverifiable"),
        # Does it deliver what it closes?
        Edge("scope_outdated", (S.SCOPE_CHECK,), S.CONVERGE_GATE, "look", LOOK, (g.scope_over, g.gate_outdated)),
        Edge("scope_answer_recalled", (S.SCOPE_CHECK,), S.CAPTURE_HEAD, "look", LOOK, (g.scope_blocked, g.remembered)),
        Edge("scope_blocked", (S.SCOPE_CHECK,), S.AWAIT_ANSWER, "look", LOOK, (g.scope_blocked,), "scope"),
        Edge("scope_passed", (S.SCOPE_CHECK,), S.CONVERGED, "look", LOOK, (g.scope_over, g.gate_ok), effects=("hand_over",)),
        # A person answered.
        Edge("answered_abandon", (S.AWAIT_ANSWER,), S.ABANDONED, "look", LOOK, (g.answer_abandons,)),
        Edge("answered_waive", (S.AWAIT_ANSWER,), S.CONVERGE_GATE, "look", LOOK, (g.answer_retries, g.answer_waives)),
        Edge("answered", (S.AWAIT_ANSWER,), S.CAPTURE_HEAD, "look", LOOK, (g.answer_retries,)),
    ],
)
# fmt: on

# Facts that would move each waiting state on: one edge at least for each, proven by a generated test.
CONVERGENCE_WAKES: dict[str, tuple[str, ...]] = {
    S.CAPTURE_HEAD: ("head_read", "pull_request"),
    S.REVIEW_ROUND: ("run_ended", "timer", "pull_request"),
    S.CHECK_PROGRESS: ("head_read", "pull_request"),
    S.AWAIT_REVIEW: ("fresh_review", "timer", "pull_request"),
    S.CONVERGE_GATE: ("gate_read", "timer", "pull_request"),
    S.SCOPE_CHECK: ("run_ended", "timer", "pull_request"),
    S.AWAIT_ANSWER: ("answer", "pull_request"),
}

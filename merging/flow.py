"""The merge flow's state machine: from a converged pull request to a commit proven on its base."""

from enum import StrEnum

from convergence.flow import PullState
from merging import guards as g
from runs.machine import Edge, Kind, Machine, State, Tone


class MergeState(StrEnum):
    """States of the flow."""

    WAITING_DEPS = "waiting_deps"
    WAITING_MERGE = "waiting_merge"
    REPOLLING = "repolling"
    MERGING = "merging"
    VERIFYING_LANDING = "verifying_landing"
    ESCALATED = "escalated"
    MERGED = "merged"
    ABANDONED = "abandoned"
    RETURNED = "returned"


S = MergeState
P = PullState
READY_STATES = (S.WAITING_MERGE, S.REPOLLING)
BEFORE_MERGE = (S.WAITING_DEPS, *READY_STATES)
RETURNABLE = (*BEFORE_MERGE, S.ESCALATED)
DEPENDENCY_STATES = (*BEFORE_MERGE, S.ESCALATED)  # in which bodies are followed and dependencies read
CANCELLABLE = (*BEFORE_MERGE, S.MERGING, S.ESCALATED)  # all that live but the proof of landing
LOOK = ("poller", "timer")
EFFECT = ("flow",)

# fmt: off
MERGE_MACHINE = Machine(
    "merge",
    [
        State(S.WAITING_DEPS, Kind.EXTERNAL, "Waiting for dependencies", "⋈", Tone.WAIT, P.WAITING_DEPS),
        State(S.WAITING_MERGE, Kind.EXTERNAL, "Waiting to merge", "⧗", Tone.WAIT, P.WAITING_MERGE),
        State(S.REPOLLING, Kind.EXTERNAL, "Probing a stall", "↻", Tone.WAIT, P.WAITING_MERGE),
        State(S.MERGING, Kind.AUTOMATIC, "Merging", "◐", Tone.MOVE, P.MERGING),
        State(S.VERIFYING_LANDING, Kind.EXTERNAL, "Proving the landing", "⌕", Tone.MOVE, P.MERGING),
        State(S.ESCALATED, Kind.HUMAN, "Waiting for an answer", "⚑", Tone.YOU, P.ESCALATED),
        State(S.MERGED, Kind.TERMINAL, "Merged", "⊕", Tone.GOOD, P.MERGED),
        State(S.ABANDONED, Kind.TERMINAL, "Abandoned", "–", Tone.OFF, P.ABANDONED),
        State(S.RETURNED, Kind.TERMINAL, "Returned to review", "→", Tone.OFF, P.CONVERGING),
    ],
    [
        Edge("started", (), S.WAITING_DEPS, "start", ("flow",)),
        # Out of band, before everything else.
        Edge("merged_elsewhere", CANCELLABLE, S.VERIFYING_LANDING, "look", LOOK, (g.pull_merged, g.not_asking_about_landing)),
        Edge("closed_elsewhere", CANCELLABLE, S.ABANDONED, "look", LOOK, (g.pull_closed,)),
        Edge("cancelled", CANCELLABLE, S.ABANDONED, "cancel", ("operator",), (g.call_not_on_wire,)),
        Edge("returned", RETURNABLE, S.RETURNED, "look", LOOK, (g.pull_open, g.needs_new_review, g.not_asking_about_returns, g.returns_left), effects=("resubmit",)),
        Edge("returned_too_often", RETURNABLE, S.ESCALATED, "look", LOOK, (g.pull_open, g.needs_new_review, g.not_asking_about_returns), "returned_too_often"),
        Edge("unreachable", BEFORE_MERGE, S.ESCALATED, "look", LOOK, (g.pull_unreachable,), "unreachable"),
        # What it waits for.
        Edge("dependency_dead", (S.WAITING_DEPS,), S.ESCALATED, "look", LOOK, (g.pull_open, g.dependency_dead), "dependency_closed"),
        Edge("dependency_cyclic", (S.WAITING_DEPS,), S.ESCALATED, "look", LOOK, (g.pull_open, g.dependency_cyclic), "dependency_cycle"),
        Edge("dependencies_clear", (S.WAITING_DEPS,), S.WAITING_MERGE, "look", LOOK, (g.dependencies_clear,)),
        Edge("dependency_appeared", READY_STATES, S.WAITING_DEPS, "look", LOOK, (g.pull_open, g.dependency_waits)),
        # Ready to merge?
        Edge("draft", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_draft,), "draft"),
        Edge("checks_failing", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_blocked,), "checks_failing"),
        Edge("conflict", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_conflict,), "conflict"),
        Edge("refusal_counted", READY_STATES, S.WAITING_MERGE, "look", LOOK, (g.verdict_ready, g.refused_although_ready, g.retries_left)),
        Edge("refused_too_often", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_ready, g.refused_although_ready), "merge_refused"),
        Edge("base_is_dead_end", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_ready, g.base_dead_end), "dead_end_base"),
        Edge("merge_begun", READY_STATES, S.MERGING, "look", LOOK, (g.verdict_ready, g.base_free, g.rested), effects=("merge",)),
        Edge("stall_probed", (S.WAITING_MERGE,), S.REPOLLING, "look", LOOK, (g.verdict_waiting, g.timer_passed, g.stalls_left)),
        Edge("stall_probed_again", (S.REPOLLING,), S.REPOLLING, "look", LOOK, (g.verdict_waiting, g.timer_passed, g.stalls_left)),
        Edge("stalled", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_waiting, g.timer_passed), "stalled"),
        # The merge effect's outcome, as read back.
        Edge("merge_landed", (S.MERGING,), S.VERIFYING_LANDING, "outcome", EFFECT, (g.outcome_merged,)),
        Edge("merge_retried", (S.MERGING,), S.WAITING_MERGE, "outcome", EFFECT, (g.outcome_counted, g.retries_left)),
        Edge("merge_retries_spent", (S.MERGING,), S.ESCALATED, "outcome", EFFECT, (g.outcome_counted,), "merge_retries_spent"),
        Edge("merge_not_now", (S.MERGING,), S.WAITING_MERGE, "outcome", EFFECT, (g.outcome_not_counted,)),
        Edge("merge_dead_end", (S.MERGING,), S.ESCALATED, "outcome", EFFECT, (g.outcome_dead_end,), "dead_end_base"),
        Edge("merge_forbidden", (S.MERGING,), S.ESCALATED, "outcome", EFFECT, (g.outcome_forbidden,), "merge_forbidden"),
        Edge("merge_found_closed", (S.MERGING,), S.ABANDONED, "outcome", EFFECT, (g.outcome_closed,)),
        # The effect ended without an outcome: read back, and counted as a retry.
        Edge("merge_outcome_lost", (S.MERGING,), S.WAITING_MERGE, "look", LOOK, (g.pull_open, g.timer_passed, g.effect_over, g.retries_left)),
        Edge("merge_outcome_lost_too_often", (S.MERGING,), S.ESCALATED, "look", LOOK, (g.pull_open, g.timer_passed, g.effect_over), "merge_retries_spent"),
        # Proof of landing.
        Edge("landing_proven", (S.VERIFYING_LANDING,), S.MERGED, "look", LOOK, (g.landing_proven,), effects=("announce_merged",)),
        Edge("landing_proven_late", (S.ESCALATED,), S.MERGED, "look", LOOK, (g.asking_about_landing, g.landing_proven), effects=("announce_merged",)),
        Edge("landing_unverified", (S.VERIFYING_LANDING,), S.ESCALATED, "look", LOOK, (g.was_read, g.timer_passed), "landing_unverified"),
        # A person answered, or nobody needs to any more.
        Edge("answered_abandon", (S.ESCALATED,), S.ABANDONED, "look", LOOK, (g.answer_abandons,)),
        Edge("answered_look_again", (S.ESCALATED,), S.VERIFYING_LANDING, "look", LOOK, (g.answer_retries, g.asking_about_landing)),
        Edge("answered_drop", (S.ESCALATED,), S.WAITING_DEPS, "look", LOOK, (g.answer_drops,)),
        Edge("answered", (S.ESCALATED,), S.WAITING_DEPS, "look", LOOK, (g.answer_retries,)),
        Edge("reason_gone", (S.ESCALATED,), S.WAITING_DEPS, "look", LOOK, (g.reason_gone,)),
    ],
)
# fmt: on

# Facts that would move each waiting state on: one edge at least for each, proven by a generated test.
MERGE_WAKES: dict[str, tuple[str, ...]] = {
    S.WAITING_DEPS: ("dependencies", "pull_request"),
    S.WAITING_MERGE: ("verdict", "timer", "pull_request"),
    S.REPOLLING: ("verdict", "timer", "pull_request"),
    S.MERGING: ("outcome", "timer", "pull_request"),
    S.VERIFYING_LANDING: ("landing", "timer"),
    S.ESCALATED: ("answer", "reason_gone", "pull_request"),
}

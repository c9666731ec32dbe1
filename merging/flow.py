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
    WAITING_LANE = "waiting_lane"
    UPDATING_BRANCH = "updating_branch"
    FIXING_CI = "fixing_ci"
    REBASING = "rebasing"
    MERGING = "merging"
    QUEUED = "queued"
    VERIFYING_LANDING = "verifying_landing"
    ESCALATED = "escalated"
    MERGED = "merged"
    ABANDONED = "abandoned"
    RETURNED = "returned"


S = MergeState
P = PullState
READY_STATES = (S.WAITING_MERGE, S.REPOLLING)
AGENT_STATES = (S.FIXING_CI, S.REBASING)
EFFECT_STATES = (S.UPDATING_BRANCH, S.MERGING)  # an effect moves them on, and is read back when it does not
WAITING_STATES = (S.WAITING_DEPS, *READY_STATES, S.WAITING_LANE)
DEPENDENCY_STATES = (*WAITING_STATES, S.ESCALATED)  # in which bodies are followed and dependencies read
REACHING = (*WAITING_STATES, S.UPDATING_BRANCH, *AGENT_STATES, S.QUEUED)  # that need the pull request to be there
RETURNABLE = (*WAITING_STATES, S.UPDATING_BRANCH, S.ESCALATED)
CANCELLABLE = (*REACHING, S.MERGING, S.ESCALATED)  # all that live but the proof of landing
IN_MOTION = (*READY_STATES, S.UPDATING_BRANCH, *AGENT_STATES, S.MERGING, S.QUEUED, S.VERIFYING_LANDING)
LANDING_STATES = (S.MERGING, S.QUEUED, S.VERIFYING_LANDING)  # no two direct lane neighbours are ever in these
LOOK = ("poller", "timer")
EFFECT = ("flow",)

# fmt: off
MERGE_MACHINE = Machine(
    "merge",
    [
        State(S.WAITING_DEPS, Kind.EXTERNAL, "Waiting for dependencies", "⋈", Tone.WAIT, P.WAITING_DEPS),
        State(S.WAITING_MERGE, Kind.EXTERNAL, "Waiting to merge", "⧗", Tone.WAIT, P.WAITING_MERGE),
        State(S.REPOLLING, Kind.EXTERNAL, "Probing a stall", "↻", Tone.WAIT, P.WAITING_MERGE),
        State(S.WAITING_LANE, Kind.EXTERNAL, "Waiting for its lane", "⇉", Tone.WAIT, P.WAITING_LANE),
        State(S.UPDATING_BRANCH, Kind.AUTOMATIC, "Updating its branch", "⇡", Tone.MOVE, P.MERGING),
        State(S.FIXING_CI, Kind.AGENT, "Repairing checks", "⚒", Tone.MOVE, P.MERGING),
        State(S.REBASING, Kind.AGENT, "Rebasing", "⤴", Tone.MOVE, P.MERGING),
        State(S.MERGING, Kind.AUTOMATIC, "Merging", "◐", Tone.MOVE, P.MERGING),
        State(S.QUEUED, Kind.EXTERNAL, "In the merge queue", "▤", Tone.WAIT, P.QUEUED),
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
        Edge("closed_elsewhere", CANCELLABLE, S.ABANDONED, "look", LOOK, (g.pull_closed, g.not_reopening)),
        Edge("cancelled", CANCELLABLE, S.ABANDONED, "cancel", ("operator",), (g.call_not_on_wire,), effects=("dequeue",)),
        Edge("returned", RETURNABLE, S.RETURNED, "look", LOOK, (g.pull_open, g.needs_new_review, g.not_asking_about_returns, g.returns_left), effects=("resubmit",)),
        Edge("returned_too_often", RETURNABLE, S.ESCALATED, "look", LOOK, (g.pull_open, g.needs_new_review, g.not_asking_about_returns), "returned_too_often"),
        Edge("unreachable", REACHING, S.ESCALATED, "look", LOOK, (g.pull_unreachable,), "unreachable"),
        # What it waits for.
        Edge("dependency_dead", (S.WAITING_DEPS,), S.ESCALATED, "look", LOOK, (g.pull_open, g.dependency_dead), "dependency_closed"),
        Edge("dependency_cyclic", (S.WAITING_DEPS,), S.ESCALATED, "look", LOOK, (g.pull_open, g.dependency_cyclic), "dependency_cycle"),
        Edge("dependencies_clear", (S.WAITING_DEPS,), S.WAITING_MERGE, "look", LOOK, (g.dependencies_clear,)),
        Edge("dependency_appeared", (*READY_STATES, S.WAITING_LANE), S.WAITING_DEPS, "look", LOOK, (g.pull_open, g.dependency_waits)),
        Edge("lane_free", (S.WAITING_LANE,), S.WAITING_MERGE, "look", LOOK, (g.pull_open, g.lane_free)),
        # What is not ready, and what mends it.
        Edge("queue_entered", READY_STATES, S.QUEUED, "look", LOOK, (g.in_merge_queue,)),
        Edge("fresh_run_begun", READY_STATES, S.WAITING_MERGE, "look", LOOK, (g.fresh_run_due,), effects=("fresh_run",)),
        Edge("draft", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_draft, g.no_remedy_under_way), "draft"),
        Edge("agent_question_stands", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_blocked, g.agent_question_stands), "agent_question"),
        Edge("checks_rerun", READY_STATES, S.WAITING_MERGE, "look", LOOK, (g.verdict_blocked, g.rerun_due), effects=("rerun_checks",)),
        Edge("ci_fix_begun", READY_STATES, S.FIXING_CI, "look", LOOK, (g.verdict_blocked, g.no_remedy_under_way, g.ci_fixes_left), effects=("fix-ci",)),
        Edge("checks_failing", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_blocked, g.no_remedy_under_way), "checks_failing"),
        Edge("rebase_begun", READY_STATES, S.REBASING, "look", LOOK, (g.verdict_conflict, g.rebases_left), effects=("rebase",)),
        Edge("conflict", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_conflict,), "conflict"),
        # Ready: what still holds it, and the merge.
        Edge("refusal_counted", READY_STATES, S.WAITING_MERGE, "look", LOOK, (g.verdict_ready, g.refused_although_ready, g.retries_left)),
        Edge("refused_too_often", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_ready, g.refused_although_ready), "merge_refused"),
        Edge("base_is_dead_end", READY_STATES, S.ESCALATED, "look", LOOK, (g.may_land, g.base_dead_end), "dead_end_base"),
        Edge("landing_is_manual", READY_STATES, S.ESCALATED, "look", LOOK, (g.may_land, g.manual_landing), "manual_landing"),
        Edge("approval_missing", READY_STATES, S.ESCALATED, "look", LOOK, (g.may_land, g.approval_missing), "approval_required"),
        Edge("lane_held", READY_STATES, S.WAITING_LANE, "look", LOOK, (g.may_land, g.lane_neighbour_ahead)),
        Edge("branch_update_begun", READY_STATES, S.UPDATING_BRANCH, "look", LOOK, (g.may_land, g.fresh_base_missing, g.retries_left), effects=("update_branch",)),
        Edge("branch_updates_spent", READY_STATES, S.ESCALATED, "look", LOOK, (g.may_land, g.fresh_base_missing), "merge_retries_spent"),
        Edge("merge_begun", READY_STATES, S.MERGING, "look", LOOK, (g.may_land, g.base_free, g.rested), effects=("merge",)),
        # A wait that does not settle.
        Edge("stall_probed", (S.WAITING_MERGE,), S.REPOLLING, "look", LOOK, (g.verdict_waiting, g.timer_passed, g.stalls_left)),
        Edge("stall_rebased", (S.REPOLLING,), S.REBASING, "look", LOOK, (g.verdict_waiting, g.timer_passed, g.unclassified, g.rebases_left), effects=("rebase",)),
        Edge("stall_probed_again", (S.REPOLLING,), S.REPOLLING, "look", LOOK, (g.verdict_waiting, g.timer_passed, g.stalls_left)),
        Edge("stalled", READY_STATES, S.ESCALATED, "look", LOOK, (g.verdict_waiting, g.timer_passed), "stalled"),
        # The base brought into the branch, as read back.
        Edge("branch_updated", (S.UPDATING_BRANCH,), S.WAITING_MERGE, "outcome", EFFECT, (g.update_done,)),
        Edge("branch_not_updated", (S.UPDATING_BRANCH,), S.WAITING_MERGE, "outcome", EFFECT, (g.update_pointless,)),
        Edge("branch_update_refused", (S.UPDATING_BRANCH,), S.REBASING, "outcome", EFFECT, (g.update_refused, g.rebases_left), effects=("rebase",)),
        Edge("branch_update_impossible", (S.UPDATING_BRANCH,), S.ESCALATED, "outcome", EFFECT, (g.update_refused,), "conflict"),
        Edge("branch_update_lost", (S.UPDATING_BRANCH,), S.WAITING_MERGE, "look", LOOK, (g.pull_open, g.timer_passed, g.effect_over)),
        # What an agent came to.
        Edge("agent_blocked_unproven", (S.FIXING_CI,), S.WAITING_MERGE, "look", LOOK, (g.agent_blocked, g.agent_pushed_nothing, g.not_reconciled)),
        Edge("agent_asked", AGENT_STATES, S.ESCALATED, "look", LOOK, (g.agent_asks,), "agent_question"),
        Edge("agent_waits_on_pull", AGENT_STATES, S.WAITING_DEPS, "look", LOOK, (g.agent_names_dependencies,)),
        Edge("agent_ended", AGENT_STATES, S.WAITING_MERGE, "look", LOOK, (g.agent_ended,)),
        Edge("agent_sla_passed", AGENT_STATES, S.ESCALATED, "look", LOOK, (g.timer_passed,), "agent_sla"),
        # The merge effect's outcome, as read back.
        Edge("merge_landed", (S.MERGING,), S.VERIFYING_LANDING, "outcome", EFFECT, (g.outcome_merged,)),
        Edge("merge_queued", (S.MERGING,), S.QUEUED, "outcome", EFFECT, (g.outcome_queued,)),
        Edge("merge_behind", (S.MERGING,), S.UPDATING_BRANCH, "outcome", EFFECT, (g.outcome_behind, g.retries_left), effects=("update_branch",)),
        Edge("merge_retried", (S.MERGING,), S.WAITING_MERGE, "outcome", EFFECT, (g.outcome_counted, g.retries_left)),
        Edge("merge_retries_spent", (S.MERGING,), S.ESCALATED, "outcome", EFFECT, (g.outcome_counted,), "merge_retries_spent"),
        Edge("merge_not_now", (S.MERGING,), S.WAITING_MERGE, "outcome", EFFECT, (g.outcome_not_counted,)),
        Edge("merge_dead_end", (S.MERGING,), S.ESCALATED, "outcome", EFFECT, (g.outcome_dead_end,), "dead_end_base"),
        Edge("merge_forbidden", (S.MERGING,), S.ESCALATED, "outcome", EFFECT, (g.outcome_forbidden,), "merge_forbidden"),
        Edge("merge_found_closed", (S.MERGING,), S.ABANDONED, "outcome", EFFECT, (g.outcome_closed,)),
        # The effect ended without an outcome: read back, and counted as a retry.
        Edge("merge_outcome_lost", (S.MERGING,), S.WAITING_MERGE, "look", LOOK, (g.pull_open, g.timer_passed, g.effect_over, g.retries_left)),
        Edge("merge_outcome_lost_too_often", (S.MERGING,), S.ESCALATED, "look", LOOK, (g.pull_open, g.timer_passed, g.effect_over), "merge_retries_spent"),
        # The forge's merge queue.
        Edge("taken_back", (S.QUEUED,), S.QUEUED, "look", LOOK, (g.pull_open, g.needs_new_review, g.in_merge_queue, g.effect_over), effects=("dequeue",)),
        Edge("dequeued", (S.QUEUED,), S.ESCALATED, "look", LOOK, (g.pull_open, g.taken_out_of_queue), "dequeued"),
        Edge("evicted", (S.QUEUED,), S.WAITING_MERGE, "look", LOOK, (g.pull_open, g.left_queue, g.evictions_left)),
        Edge("evicted_too_often", (S.QUEUED,), S.ESCALATED, "look", LOOK, (g.pull_open, g.left_queue), "evicted_too_often"),
        Edge("queue_stalled", (S.QUEUED,), S.ESCALATED, "look", LOOK, (g.pull_open, g.timer_passed), "queue_stalled"),
        # Proof of landing.
        Edge("landing_proven", (S.VERIFYING_LANDING,), S.MERGED, "look", LOOK, (g.landing_proven,), effects=("announce_merged", "delete_branch")),
        Edge("landing_proven_late", (S.ESCALATED,), S.MERGED, "look", LOOK, (g.asking_about_landing, g.landing_proven), effects=("announce_merged", "delete_branch")),
        Edge("landing_unverified", (S.VERIFYING_LANDING,), S.ESCALATED, "look", LOOK, (g.was_read, g.timer_passed), "landing_unverified"),
        # A person answered, or nobody needs to any more.
        Edge("answered_abandon", (S.ESCALATED,), S.ABANDONED, "look", LOOK, (g.answer_abandons,)),
        Edge("answered_look_again", (S.ESCALATED,), S.VERIFYING_LANDING, "look", LOOK, (g.answer_retries, g.asking_about_landing)),
        Edge("answered_approve", (S.ESCALATED,), S.WAITING_MERGE, "look", LOOK, (g.answer_approves,)),
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
    S.WAITING_LANE: ("lane", "pull_request"),
    S.UPDATING_BRANCH: ("outcome", "timer", "pull_request"),
    S.FIXING_CI: ("run", "timer", "pull_request"),
    S.REBASING: ("run", "timer", "pull_request"),
    S.MERGING: ("outcome", "timer", "pull_request"),
    S.QUEUED: ("queue", "timer", "pull_request"),
    S.VERIFYING_LANDING: ("landing", "timer"),
    S.ESCALATED: ("answer", "reason_gone", "pull_request"),
}

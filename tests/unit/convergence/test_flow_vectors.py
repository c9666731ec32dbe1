"""For every edge of the convergence table: facts that take it, and the same with each guard turned, that do not."""

from dataclasses import replace

import pytest

from convergence.flow import CONVERGENCE_MACHINE, CONVERGENCE_WAKES, WORKING
from convergence.guards import Facts, Gate, PullSeen, RunEnd

OPEN = Facts(pull=PullSeen.OPEN, head="b" * 40, head_repository=True)
UNREAD = replace(OPEN, pull=PullSeen.UNREAD, head=None)
DONE = RunEnd(state="completed", reason_code="ok", status="addressed", attempt="completed")


def ended(**fields):
    return replace(OPEN, run=replace(DONE, **fields))


def checked(**fields):
    """A turn that pushed nothing, whose facts were read."""
    same = replace(OPEN, settled=True, round_status="addressed", entry_head=OPEN.head, run=DONE)
    return replace(same, **fields)


HUSK = replace(DONE, state="failed", status="", attempt="environment")
ASKED = {"status": "needs_input", "question": "Which one?"}
BLOCKED = {"status": "blocked", "question": "No access."}
REFUSED = {"state": "refused", "reason_code": "needs_human", "asks_human": True}

SCOPE = replace(OPEN, gate_head=OPEN.head, gate=Gate.OK)
CANCELLED = replace(DONE, state="cancelled", reason_code="operator_cancel")
UNDELIVERED = replace(DONE, scope_blocked=True)

# (state, facts, edge): rows of a state are tried in order, so neighbouring lines are the two sides of a guard.
VECTORS = [
    # A turn begins.
    ("capture_head", replace(OPEN, settled=True), "entry_captured"),
    ("capture_head", OPEN, None),
    ("capture_head", replace(OPEN, settled=True, head_repository=False), None),
    ("capture_head", replace(UNREAD, settled=True), "entry_captured"),
    # The agent's turn ended.
    ("review_round", OPEN, None),
    ("review_round", ended(status="converged"), "claimed_converged"),
    ("review_round", ended(state="failed", status="converged"), "turn_lost"),
    ("review_round", ended(**ASKED), "asked_input"),
    ("review_round", ended(**{**ASKED, "question": ""}), "turn_addressed"),
    ("review_round", ended(**REFUSED, question="Which one?"), "asked_input"),
    ("review_round", ended(**REFUSED), "run_refused"),
    ("review_round", ended(**{**ASKED, "state": "failed"}), "turn_lost"),
    ("review_round", ended(**BLOCKED), "asked_blocked"),
    ("review_round", ended(**{**BLOCKED, "question": ""}), "turn_addressed"),
    ("review_round", ended(**{**BLOCKED, "state": "timed_out"}), "turn_lost"),
    ("review_round", ended(), "turn_addressed"),
    ("review_round", ended(reason_code="result_defaulted"), "turn_addressed"),
    ("review_round", ended(state="refused", reason_code="missing_input"), "run_refused"),
    ("review_round", ended(state="failed", cause="fatal"), "run_refused"),
    ("review_round", ended(state="failed", cause="environment"), "turn_lost"),
    ("review_round", ended(state="failed", cause="agent_error"), "turn_lost"),
    ("review_round", ended(state="timed_out"), "turn_lost"),
    ("review_round", ended(state="cancelled", reason_code="operator_cancel"), "run_cancelled"),
    ("review_round", ended(state="cancelled", reason_code="flow_moved_on"), "turn_lost"),
    ("review_round", replace(OPEN, timer_passed=True), "agent_sla_passed"),
    ("review_round", replace(UNREAD, timer_passed=True), "agent_sla_passed"),
    ("review_round", replace(ended(), timer_passed=True), "turn_addressed"),
    ("review_round", replace(UNREAD, run=DONE), "turn_addressed"),
    # A person has answered this before, or took the answer back.
    ("review_round", replace(ended(**ASKED), remembered=True), "answer_recalled"),
    ("review_round", replace(ended(**BLOCKED), remembered=True), "answer_recalled"),
    ("review_round", replace(ended(**REFUSED, question="Which one?"), remembered=True), "answer_recalled"),
    ("review_round", replace(ended(**{**ASKED, "question": ""}), remembered=True), "turn_addressed"),
    ("review_round", replace(ended(), remembered=True), "turn_addressed"),
    ("review_round", replace(ended(status="converged"), remembered=True), "claimed_converged"),
    ("review_round", replace(OPEN, remembered=True), None),
    ("review_round", replace(OPEN, answer_reverted=True), "answer_reverted"),
    ("review_round", replace(UNREAD, answer_reverted=True, timer_passed=True), "answer_reverted"),
    ("review_round", replace(ended(), answer_reverted=True), "turn_addressed"),
    ("capture_head", replace(OPEN, settled=True, answer_reverted=True), "answer_reverted"),
    ("capture_head", replace(UNREAD, answer_reverted=True), "answer_reverted"),
    # Did the turn move the branch?
    ("check_progress", checked(), "no_advance"),
    ("check_progress", checked(settled=False), None),
    ("check_progress", checked(settled=False, head="c" * 40), None),
    ("check_progress", checked(settled=False, run=HUSK), None),
    ("check_progress", checked(head="c" * 40), "progressed"),
    ("check_progress", checked(head=None), "progressed"),
    ("check_progress", checked(entry_head=None), "progressed"),
    ("check_progress", checked(round_status="needs_input"), "progressed"),
    ("check_progress", checked(head="c" * 40, round=20), "round_cap_reached"),
    ("check_progress", checked(head="c" * 40, round=21), "round_cap_reached"),
    ("check_progress", checked(head="c" * 40, round=19), "progressed"),
    ("check_progress", checked(settled=False, head="c" * 40, round=20), None),
    ("check_progress", checked(round=20), "no_advance"),
    ("check_progress", checked(head="c" * 40, churn=True), "churn_detected"),
    ("check_progress", checked(head="c" * 40, churn=True, round=20), "round_cap_reached"),
    ("check_progress", checked(churn=True), "no_advance"),
    ("check_progress", checked(run=HUSK, churn=True), "husk_retried"),
    ("check_progress", checked(settled=False, head="c" * 40, churn=True), None),
    ("check_progress", checked(run=HUSK), "husk_retried"),
    ("check_progress", checked(run=HUSK, round=20), "husk_retried"),
    ("check_progress", checked(run=replace(HUSK, attempt="agent_exit"), husk_retries=1), "husk_retried"),
    ("check_progress", checked(run=HUSK, husk_retries=2), "husk_exhausted"),
    ("check_progress", checked(settled=False, run=HUSK, husk_retries=2), None),
    ("check_progress", checked(run=replace(HUSK, attempt="timed_out")), "no_advance"),
    ("check_progress", checked(run=replace(HUSK, attempt="")), "no_advance"),
    ("check_progress", checked(run=None), "no_advance"),
    # Waiting for the reviewer.
    ("await_review", OPEN, None),
    ("await_review", replace(OPEN, fresh=True, only_empty=True), "empty_review_arrived"),
    ("await_review", replace(OPEN, only_empty=True), None),
    ("await_review", replace(OPEN, fresh=True), "review_arrived"),
    ("await_review", replace(OPEN, stale=True, stale_cause=False), "stale_no_more"),
    ("await_review", replace(OPEN, stale=True), None),
    ("await_review", replace(OPEN, stale_cause=False), None),
    ("await_review", replace(UNREAD, stale=True, stale_cause=False), None),
    ("await_review", replace(OPEN, requestable=False), "reviewer_unavailable_passed"),
    ("await_review", replace(OPEN, requestable=False, proceed_without_reviewer=False), "reviewer_unavailable"),
    ("await_review", replace(UNREAD, requestable=False), None),
    ("await_review", replace(UNREAD, requestable=False, proceed_without_reviewer=False), None),
    ("await_review", replace(OPEN, timer_passed=True), "review_stalled"),
    ("await_review", replace(UNREAD, timer_passed=True), None),
    ("await_review", replace(OPEN, fresh=True, timer_passed=True), "review_arrived"),
    # The gate, which fails closed.
    ("converge_gate", OPEN, None),
    ("converge_gate", replace(OPEN, gate=Gate.OK, scope_due=False), "gate_passed"),
    ("converge_gate", replace(OPEN, gate=Gate.OK), "scope_asked"),
    ("converge_gate", replace(OPEN, scope_due=False), None),
    ("converge_gate", replace(OPEN, gate=Gate.ACK_ONLY, ack_retry_max=2, ack_retries=0), "ack_repeated"),
    ("converge_gate", replace(OPEN, gate=Gate.ACK_ONLY, ack_retry_max=2, ack_retries=1), "ack_repeated"),
    ("converge_gate", replace(OPEN, gate=Gate.ACK_ONLY, ack_retry_max=2, ack_retries=2), "ack_budget_spent"),
    ("converge_gate", replace(OPEN, gate=Gate.ACK_ONLY, ack_retry_max=1, ack_retries=1), "ack_budget_spent"),
    ("converge_gate", replace(OPEN, gate=Gate.ACK_ONLY, ack_retry_max=0), "ack_budget_spent"),
    ("converge_gate", replace(OPEN, gate=Gate.ACK_ONLY, round=20, ack_retry_max=1), "ack_repeated"),
    ("converge_gate", replace(OPEN, gate=Gate.STALE), "gate_stale"),
    ("converge_gate", replace(OPEN, gate=Gate.BLOCKED), "gate_blocked"),
    ("converge_gate", replace(OPEN, gate=Gate.UNREADABLE), None),
    ("converge_gate", replace(OPEN, gate=Gate.UNREADABLE, gate_for_good=True), "gate_unverifiable"),
    ("converge_gate", replace(OPEN, gate=Gate.UNREADABLE, timer_passed=True), "gate_unverifiable"),
    ("converge_gate", replace(UNREAD, gate=Gate.UNREADABLE, timer_passed=True), None),
    ("converge_gate", replace(UNREAD, gate=Gate.UNREADABLE, gate_for_good=True), "gate_unverifiable"),
    ("converge_gate", replace(OPEN, timer_passed=True), None),
    # Does it deliver what it closes?
    ("scope_check", SCOPE, None),
    ("scope_check", replace(SCOPE, run=DONE), "scope_passed"),
    ("scope_check", replace(SCOPE, run=replace(DONE, state="failed", cause="fatal")), "scope_passed"),
    ("scope_check", replace(SCOPE, run=CANCELLED), "scope_passed"),
    ("scope_check", replace(SCOPE, timer_passed=True), "scope_passed"),
    ("scope_check", replace(SCOPE, run=UNDELIVERED), "scope_blocked"),
    ("scope_check", replace(SCOPE, run=UNDELIVERED, remembered=True), "scope_answer_recalled"),
    ("scope_check", replace(SCOPE, run=DONE, remembered=True), "scope_passed"),
    ("scope_check", replace(SCOPE, run=DONE, gate_head="c" * 40), "scope_outdated"),
    ("scope_check", replace(SCOPE, run=DONE, gate_head=None), "scope_outdated"),
    ("scope_check", replace(SCOPE, run=UNDELIVERED, gate_head="c" * 40), "scope_outdated"),
    ("scope_check", replace(SCOPE, timer_passed=True, gate_head="c" * 40), "scope_outdated"),
    ("scope_check", replace(SCOPE, gate_head="c" * 40), None),
    ("scope_check", replace(SCOPE, run=DONE, gate=Gate.BLOCKED), "scope_outdated"),
    ("scope_check", replace(SCOPE, run=UNDELIVERED, gate=Gate.STALE), "scope_outdated"),
    ("scope_check", replace(SCOPE, run=DONE, gate=Gate.UNREADABLE), "scope_outdated"),
    ("scope_check", replace(SCOPE, gate=Gate.BLOCKED), None),
    ("scope_check", replace(SCOPE, run=DONE, gate=None), None),
    ("scope_check", replace(SCOPE, run=UNDELIVERED, gate=None), "scope_blocked"),
    ("scope_check", replace(SCOPE, run=DONE, head=None), "scope_passed"),
    # A person answered.
    ("await_answer", OPEN, None),
    ("await_answer", replace(OPEN, answer="retry"), "answered"),
    ("await_answer", replace(UNREAD, answer="retry"), "answered"),
    ("await_answer", replace(OPEN, answer="retry", waives=True), "answered_waive"),
    ("await_answer", replace(OPEN, waives=True), None),
    ("await_answer", replace(OPEN, answer="abandon", waives=True), "answered_abandon"),
    ("await_answer", replace(OPEN, answer="abandon"), "answered_abandon"),
    ("await_answer", replace(OPEN, unreachable=True), None),
]
# Out of band comes first, whatever else is true.
BUSY = replace(
    OPEN,
    settled=True,
    fresh=True,
    gate=Gate.OK,
    answer="retry",
    run=DONE,
    timer_passed=True,
    requestable=False,
)
for state in WORKING:
    VECTORS += [
        (state, replace(BUSY, pull=PullSeen.MERGED), "merged_elsewhere"),
        (state, replace(BUSY, pull=PullSeen.CLOSED), "closed_elsewhere"),
    ]
    if state != "await_answer":
        VECTORS.append((state, replace(BUSY, pull=PullSeen.MISSING, unreachable=True), "unreachable"))


@pytest.mark.parametrize(("state", "facts", "edge"), VECTORS)
def test_the_facts_take_exactly_this_edge(state, facts, edge):
    """CV-H10, CV-H15, CV-H21: unknown is never bad news, only listed ends are husks, unread facts fire no timer."""
    taken = CONVERGENCE_MACHINE.advance(state, "look", facts)
    assert (taken.name if taken else None) == edge


def test_every_edge_of_a_look_has_a_vector():
    looked = {edge.name for edge in CONVERGENCE_MACHINE.edges if edge.event == "look"}
    assert looked == {edge for _, _, edge in VECTORS if edge}


@pytest.mark.parametrize("state", WORKING)
def test_a_person_may_cancel_in_every_working_state(state):
    edge = CONVERGENCE_MACHINE.advance(state, "cancel", OPEN)
    assert edge is not None
    assert edge.name == "cancelled"
    assert CONVERGENCE_MACHINE.allows("cancelled", state, "operator")


def test_a_submission_begins_at_the_entry():
    edge = CONVERGENCE_MACHINE.edge("submitted")
    assert (edge.sources, edge.target, edge.event) == ((), "capture_head", "submit")


OCCURRED = {
    "head_read": replace(OPEN, settled=True, round_status="addressed", entry_head="a" * 40, run=DONE),
    "run_ended": ended(),
    "timer": replace(OPEN, timer_passed=True, gate=Gate.UNREADABLE),
    "pull_request": replace(OPEN, pull=PullSeen.MERGED),
    "fresh_review": replace(OPEN, fresh=True),
    "gate_read": replace(OPEN, gate=Gate.OK),
    "answer": replace(OPEN, answer="retry"),
}


@pytest.mark.parametrize(("state", "fact"), [(s, fact) for s, facts in CONVERGENCE_WAKES.items() for fact in facts])
def test_every_fact_that_a_wait_names_makes_an_edge(state, fact):
    """CV-H24: no working state is without a fact, and each named one moves the flow."""
    assert CONVERGENCE_MACHINE.advance(state, "look", OCCURRED[fact]) is not None


def test_every_working_state_names_facts():
    assert set(CONVERGENCE_WAKES) == set(WORKING) == set(CONVERGENCE_MACHINE.values) - CONVERGENCE_MACHINE.terminal
    assert all(CONVERGENCE_WAKES.values())


TARGETS = {
    "submitted": ((), "capture_head"),
    "merged_elsewhere": (WORKING, "merged"),
    "closed_elsewhere": (WORKING, "abandoned"),
    "cancelled": (WORKING, "abandoned"),
    "unreachable": (WORKING[:-1], "await_answer"),
    "entry_captured": (("capture_head",), "review_round"),
    "claimed_converged": (("review_round",), "converge_gate"),
    "answer_reverted": (("capture_head", "review_round"), "await_answer"),
    "answer_recalled": (("review_round",), "capture_head"),
    "asked_input": (("review_round",), "await_answer"),
    "asked_blocked": (("review_round",), "await_answer"),
    "turn_addressed": (("review_round",), "check_progress"),
    "run_refused": (("review_round",), "await_answer"),
    "run_cancelled": (("review_round",), "await_answer"),
    "turn_lost": (("review_round",), "check_progress"),
    "agent_sla_passed": (("review_round",), "await_answer"),
    "round_cap_reached": (("check_progress",), "await_answer"),
    "churn_detected": (("check_progress",), "await_answer"),
    "progressed": (("check_progress",), "await_review"),
    "husk_retried": (("check_progress",), "capture_head"),
    "husk_exhausted": (("check_progress",), "await_answer"),
    "no_advance": (("check_progress",), "await_answer"),
    "empty_review_arrived": (("await_review",), "converge_gate"),
    "review_arrived": (("await_review",), "capture_head"),
    "stale_no_more": (("await_review",), "converge_gate"),
    "reviewer_unavailable_passed": (("await_review",), "converge_gate"),
    "reviewer_unavailable": (("await_review",), "await_answer"),
    "review_stalled": (("await_review",), "await_answer"),
    "gate_passed": (("converge_gate",), "converged"),
    "scope_asked": (("converge_gate",), "scope_check"),
    "ack_repeated": (("converge_gate",), "capture_head"),
    "ack_budget_spent": (("converge_gate",), "await_answer"),
    "scope_outdated": (("scope_check",), "converge_gate"),
    "scope_answer_recalled": (("scope_check",), "capture_head"),
    "scope_blocked": (("scope_check",), "await_answer"),
    "scope_passed": (("scope_check",), "converged"),
    "gate_stale": (("converge_gate",), "await_review"),
    "gate_blocked": (("converge_gate",), "await_answer"),
    "gate_unverifiable": (("converge_gate",), "await_answer"),
    "answered_abandon": (("await_answer",), "abandoned"),
    "answered_waive": (("await_answer",), "converge_gate"),
    "answered": (("await_answer",), "capture_head"),
}


def test_edges_lead_from_and_to_where_the_rules_say():
    assert {edge.name: (edge.sources, edge.target) for edge in CONVERGENCE_MACHINE.edges} == TARGETS


def test_every_edge_to_a_person_names_a_reason_and_no_other_does():
    """CV-H5: whoever parks says why."""
    asking = {edge.name for edge in CONVERGENCE_MACHINE.edges if edge.target == "await_answer"}
    assert asking == {edge.name for edge in CONVERGENCE_MACHINE.edges if edge.reason}

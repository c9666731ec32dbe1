"""The wait for a review against the simulated GitHub."""

import json

import pytest

from convergence.forge_access import forge_client
from convergence.looks.look import look_at
from convergence.looks.reading import pulls_loaded, rows_read
from convergence.models import ConvergenceFlow, Escalation, GateCheck, ReviewRequest, ReviewSeen, Round
from runs.clock import now
from runs.models import Outbox, Run, TransitionLog
from tests.db.convergence.stage import COPILOT, REPO, claimed, waiting


def test_a_review_that_came_while_the_agent_worked_is_found_at_once(stage):
    """CV-S15: no request is sent for it."""
    pull = stage.begun()
    stage.push()
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Why?"}])
    stage.agent({"status": "addressed"})
    stage.settle()
    assert stage.edges[-3:] == ["progressed", "review_arrived", "entry_captured"]
    assert (stage.flow.round, stage.flow.turn) == (2, 1)
    assert not ReviewRequest.objects.exists()
    assert stage.sim.log.count("request_review") == 0


def test_reviewers_are_asked_at_their_windows_and_then_a_person(stage):
    """CV-S16, CV-H19: at 0, 5, 10, … min and never in between; the round stays addressed."""
    pull = waiting(stage)
    for _ in range(8):
        stage.sim.verbs.script_review(pull, dismiss_request=True)
    asked = [0 for _ in ReviewRequest.objects.all()]
    for minute in range(31):
        before = ReviewRequest.objects.count()
        stage.look()
        stage.effects()
        if ReviewRequest.objects.count() > before:
            asked.append(minute)
        stage.passes(minutes=1)
    assert asked == [0, 5, 10, 15, 20, 25]
    assert {request.outcome for request in ReviewRequest.objects.all()} == {"requested"}
    assert stage.edges[-1] == "review_stalled"
    assert Round.objects.get().status == "addressed"
    assert Escalation.objects.get().reason == "review_stalled"


def test_a_reviewer_that_is_pending_is_not_asked_again(stage):
    waiting(stage)
    for _ in range(3):
        stage.look()
        stage.effects()
        stage.passes(minutes=6)
    assert ReviewRequest.objects.get().outcome == "requested"
    assert stage.sim.log.count("request_review") == 1


def test_an_outage_pages_nobody_and_recovery_goes_on(stage):
    """CV-S17, CV-H21: the timer is judged by the first look that reads."""
    pull = waiting(stage)
    stage.look()
    stage.effects()
    stage.sim.faults.fail_next("graphql:Pulls", 500, times=50)
    stage.passes(hours=2)
    stage.look()
    assert stage.flow.state == "await_review"
    assert stage.flow.last_look_error
    stage.sim.faults.cease("fail_next")
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Why?"}])
    stage.look()
    assert "review_arrived" in stage.edges


def test_a_refused_request_passes_the_gate_without_a_review(stage):
    """CV-S18, CV-H12: GitHub said 422 to the only reviewer."""
    pull = stage.begun()
    stage.sim.verbs.script_review(pull, unassignable=True)
    claimed(stage, pull)
    stage.settle(10)
    assert stage.edges[-3:] == ["gate_stale", "reviewer_unavailable_passed", "gate_passed"]
    assert ReviewRequest.objects.get().outcome == "unavailable"
    assert stage.flow.state == "converged"


def test_a_refused_request_asks_a_person_where_the_policy_says_so(stage, policy_file):
    """CV-S18."""
    policy_file("convergence: {onReviewerUnavailable: escalate}\n")
    pull = stage.begun()
    stage.sim.verbs.script_review(pull, unassignable=True)
    claimed(stage, pull)
    stage.settle(10)
    assert stage.edges[-1] == "reviewer_unavailable"


def test_a_claim_before_any_review_waits_for_one(stage):
    """CV-S19: stale, asked for, found, worked."""
    pull = claimed(stage)
    stage.settle()
    assert stage.edges[-1] == "gate_stale"
    assert stage.flow.stale
    assert ReviewRequest.objects.get().outcome == "requested"
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Why?"}])
    stage.settle()
    assert stage.edges[-2:] == ["review_arrived", "entry_captured"]
    assert stage.flow.round == 2
    assert not stage.flow.stale


def test_a_review_that_github_moved_to_a_new_head_counts_for_none(stage):
    """CV-S22, CV-H13: a force-push re-points it, the product's record does not follow."""
    pull = stage.pull_on_forge()
    base = pull.head_sha
    review = stage.review(pull, clean=True, state="APPROVED")
    stage.submit(pull)
    stage.look()
    first = ReviewSeen.objects.get()
    assert first.counts_for == base
    stage.push("total = 3\n", onto=stage.sim.world.find_repository(REPO).branches["main"])
    assert review.commit_sha != base
    stage.agent({"status": "addressed"})
    stage.settle()
    assert ReviewSeen.objects.get().counts_for == base
    assert stage.flow.state == "await_review"
    assert ReviewRequest.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "edges"),
    [
        ({"clean": True}, ["empty_review_arrived", "gate_passed"]),
        ({"body": "Looks odd to me."}, ["review_arrived", "entry_captured"]),
        (
            {"clean": True, "threads": [{"path": "app.py", "line": 1, "text": "Why?"}]},
            ["review_arrived", "entry_captured"],
        ),
    ],
)
def test_an_empty_review_spares_a_round(stage, fields, edges):
    """CV-S47: only where nothing else is open and the body was understood."""
    pull = waiting(stage, auto_merge=False)
    stage.review(pull, **fields)
    stage.settle()
    assert stage.edges[-2:] == edges
    assert Run.objects.count() == (1 if edges[-1] == "gate_passed" else 2)


def test_what_was_read_before_the_own_resolutions_left_is_not_judged(stage):
    """A thread that was resolved after the reading looks open in it; the next reading tells."""
    pull = stage.pull_on_forge()
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Why?"}])
    stage.submit(pull, auto_merge=False)
    stage.settle()
    [thread] = pull.threads
    stage.agent({"status": "converged", "threads": [{"id": thread.node_id, "resolve": True}]})
    stage.step()
    row = stage.flow
    assert row.state == "converge_gate"
    read_from, client, pulls = now(), forge_client(), pulls_loaded([row])
    outcomes = rows_read(client, [row], pulls)
    stage.effects()
    look_at(client, row, pulls[row.pull_id], outcomes[row.pk], read_from=read_from)
    assert stage.edges[-1] == "claimed_converged"
    stage.settle()
    assert stage.edges[-1] == "gate_passed"


def test_an_empty_review_is_a_round_where_the_policy_says_so(stage, policy_file):
    """CV-S47, CV-S1: with skipEmptyReview false."""
    policy_file("convergence: {skipEmptyReview: false}\n")
    pull = waiting(stage)
    stage.review(pull, clean=True)
    stage.settle()
    assert stage.edges[-2:] == ["review_arrived", "entry_captured"]


def test_a_backlog_beyond_every_limit_still_begins_its_turn(stage):
    """Names, addresses and escapes count too; what finds no room waits, and the input says so."""
    pull = stage.pull_on_forge()
    threads = [{"path": "app.py", "line": 1, "text": "\x01\U0001f600" * 300} for _ in range(450)]
    stage.sim.verbs.review(pull, "dev2", "COMMENTED", body="\x02" * 20_000, threads=threads)
    stage.submit(pull)
    stage.settle()
    assert stage.flow.state == "review_round"
    told = json.loads(Run.objects.get().spec_row.canonical)["input"]["backlog"]
    assert told["truncated"]
    assert 0 < len(told["threads"]) < len(threads)
    assert all(thread["id"] and thread["path"] for thread in told["threads"])


def test_looks_at_unchanged_facts_change_nothing(stage):
    """CV-H7: no edge, no effect, no row."""
    waiting(stage)
    stage.look()
    stage.effects()

    def rows():
        return [model.objects.count() for model in (TransitionLog, Outbox, ReviewRequest, ReviewSeen, GateCheck, Run)]

    before = rows()
    for _ in range(3):
        stage.look()
        stage.effects()
    assert rows() == before


STATES = {
    "capture_head": lambda stage: stage.submit(stage.pull_on_forge()),
    "review_round": lambda stage: stage.begun(),
    "check_progress": lambda stage: (stage.begun(), stage.agent({"status": "addressed"}), stage.step()),
    "await_review": waiting,
    "converge_gate": claimed,
    "await_answer": lambda stage: (
        stage.begun(),
        stage.agent({"status": "needs_input", "question": "Which?"}),
        stage.look(),
    ),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("how", ["merged", "abandoned"])
def test_an_end_out_of_band_is_taken_by_the_first_look(stage, state, how):
    """CV-S35, CV-H6: no open task, no further run."""
    STATES[state](stage)
    assert stage.flow.state == state
    pull = stage.sim.world.find_repository(REPO).pulls[1]
    if how == "merged":
        stage.sim.verbs.merge_by_hand(pull)
    else:
        stage.sim.verbs.close(pull)
    stage.look()
    assert (stage.flow.state, stage.pull.state) == (how, how)
    assert stage.task is None
    assert not Run.objects.filter(state__in=["queued", "leased", "running"]).exists()
    for run in Run.objects.filter(state="cancelled"):
        assert run.reason_code == "subject_ended"


def test_a_renamed_repository_stays_the_same_row(stage):
    """CV-S36: the old key still resolves, the review is found."""
    from convergence.selectors.lookup import pull_named

    pull = waiting(stage, auto_merge=False)
    row = stage.pull.pk
    stage.sim.verbs.rename(REPO, "store")
    stage.review(pull, clean=True)
    stage.settle()
    assert stage.pull.pk == row
    assert stage.pull.key == "acme/store#1"
    assert pull_named("acme", "shop", 1).pk == row
    assert stage.pull.state == "converged"


def test_one_row_that_raises_backs_off_alone(stage):
    """CV-S41: the others advance, and it shows its error."""
    from convergence.models import PullRequestGeneration

    broken, good = stage.pull_on_forge(), stage.pull_on_forge(branch="feat/b")
    stage.submit(broken)
    stage.submit(good)
    PullRequestGeneration.objects.filter(pull__number=broken.number).delete()
    stage.look()
    first, second = ConvergenceFlow.objects.order_by("id")
    assert (first.state, first.look_failures) == ("capture_head", 1)
    assert "DoesNotExist" in first.last_look_error
    assert second.state == "review_round"


def test_a_missing_pull_request_is_believed_after_three_answers_over_ten_minutes(stage):
    stage.begun()
    stage.sim.verbs.delete_repository(REPO)
    stage.look()
    stage.look()
    stage.look()
    assert stage.flow.state == "review_round"
    stage.passes(minutes=11)
    stage.look()
    assert stage.edges[-1] == "unreachable"
    assert Run.objects.get().reason_code == "flow_moved_on"


def test_the_bot_is_known_in_the_spelling_of_github(stage):
    pull = waiting(stage)
    stage.look()
    stage.effects()
    assert stage.sim.log.count("request_review") == 1
    stage.sim.verbs.review(pull, COPILOT, body="Odd.")
    stage.look()
    assert ReviewSeen.objects.get().configured


def test_the_last_round_is_no_reason_to_stop_waiting(stage):
    """CV-S21, CV-H4: a stale head is reviewed, and a finding begins one more round; its push meets the cap."""
    pull = claimed(stage, max_rounds=1)
    stage.settle()
    assert stage.edges[-1] == "gate_stale"
    stage.review(pull, threads=[{"path": "app.py", "line": 1, "text": "Why?"}])
    stage.settle()
    assert (stage.flow.round, stage.flow.max_rounds, stage.flow.state) == (2, 1, "review_round")
    stage.push()
    stage.agent({"status": "addressed"})
    stage.settle()
    assert stage.edges[-1] == "round_cap_reached"
    assert stage.flow.round == 2


def test_a_turn_begins_with_an_unknown_head_when_nothing_can_be_read(stage):
    """CV-H9, CV-H10: two more looks, then on; what is unknown never reads as no progress."""
    stage.submit(stage.pull_on_forge())
    stage.sim.faults.fail_next("graphql:Pulls", 500, times=3)
    for relooks in (1, 2):
        stage.step()
        assert (stage.flow.state, stage.flow.relooks) == ("capture_head", relooks)
    stage.step()
    assert stage.flow.state == "review_round"
    assert stage.turn.entry_head == ""
    assert "sha" not in Run.objects.get().spec_row.document["workspace"]
    stage.agent({"status": "addressed"})
    stage.settle()
    assert stage.edges[-1] == "progressed"


def test_each_turn_has_its_own_entry_head(stage):
    """CV-H9: captured after the turn before it ended."""
    pull = waiting(stage)
    first = stage.turn.entry_head
    stage.review(pull, body="Once more.")
    stage.settle()
    assert stage.turn.entry_head == pull.head_sha != first

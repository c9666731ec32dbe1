"""Suppressed advisories against the simulated GitHub: acknowledged, or asked about."""

import pytest

from convergence.fingerprint import fingerprint
from convergence.models import Escalation, GateCheck, Round
from runs.models import Outbox, Run
from tests.db.convergence.stage import advised, claimed, waiting

CONSTANT = ("app.py", "Use a *constant* here.")
MARK = fingerprint(CONSTANT[1], CONSTANT[0])
NEVER = "convergence: {scopeCheck: never"


def spec(run=None):
    return (run or Run.objects.latest("id")).spec_row.document["input"]


def retries(settings, count):
    settings.FACTORY = settings.FACTORY.model_copy(update={"max_ack_retries": count})


def at_gate(stage):
    """The agent claims the end, and the gate looks."""
    stage.agent({"status": "converged"})
    stage.step()
    stage.step()


def test_an_advisory_is_in_the_backlog_until_it_is_acknowledged(stage):
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull)
    stage.settle()
    [told] = stage.turn.backlog["advisories"]
    assert (told["id"], told["path"], told["line"], told["acknowledged"]) == (MARK, "app.py", 1, False)
    assert "data, not instructions" in told["text"]


def test_one_repeat_for_paperwork_and_then_a_person(stage, settings):
    """CV-S24: the repeat names what is left; still open, a person is asked. The round stays the same."""
    retries(settings, 1)
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull)
    stage.settle()
    at_gate(stage)
    assert stage.edges[-1] == "ack_repeated"
    stage.settle()
    assert spec()["gate"] == {"advisories": [MARK], "ackThreads": []}
    assert (stage.flow.round, stage.flow.turn, stage.flow.ack_retries) == (1, 2, 1)
    at_gate(stage)
    assert stage.edges[-1] == "ack_budget_spent"
    assert stage.flow.ack_retries == 2
    assert MARK in stage.task.context
    assert Round.objects.get().status == "converged"


def test_without_a_repeat_a_person_is_asked_at_once(stage, settings):
    """CV-S24."""
    retries(settings, 0)
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull)
    stage.settle()
    at_gate(stage)
    assert stage.edges[-1] == "ack_budget_spent"
    assert stage.flow.ack_retries == 1


def test_a_repeat_is_made_on_the_last_round_too(stage, settings):
    """CV-S24: paperwork knows no round cap."""
    retries(settings, 1)
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull, max_rounds=1)
    stage.settle()
    at_gate(stage)
    assert stage.edges[-1] == "ack_repeated"


def test_what_the_agent_acknowledges_is_written_once_and_resolved(stage):
    """CV-S43: a thread on the advisory's file names it, and the gate waits for it."""
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull, auto_merge=False)
    stage.settle()
    stage.agent(
        {
            "status": "converged",
            "acks": [
                {"id": MARK, "verdict": "declined", "note": "It is used once."},
                {"id": "0" * 16, "verdict": "applied"},
            ],
        }
    )
    stage.step()
    stage.step()
    assert stage.flow.state == "converge_gate"
    assert not GateCheck.objects.exists()
    stage.effects()
    thread = stage.sim.verbs.expect_thread(pull, f"factory-ack: #{MARK}")
    assert (thread.path, thread.is_resolved) == ("app.py", True)
    assert thread.comments[0].body.startswith("Declined.\n\nIt is used once.")
    stage.settle()
    assert (stage.flow.state, stage.edges[-1]) == ("converged", "gate_passed")
    assert stage.sim.verbs.doubled() == []


def test_an_acknowledgement_after_a_kill_is_found_and_not_repeated(stage):
    """CV-S43: the control plane dies between the comment and its resolution."""
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull)
    stage.settle()
    stage.agent({"status": "converged", "acks": [{"id": MARK, "verdict": "applied"}]})
    stage.step()
    stage.sim.faults.lose_answer("file_comment")
    stage.effects()
    stage.effects()
    assert stage.sim.log.count("file_comment") == 1
    thread = stage.sim.verbs.expect_thread(pull, f"factory-ack: #{MARK}")
    assert thread.is_resolved
    assert stage.sim.verbs.doubled() == []


def test_an_advisory_on_a_file_that_did_not_change_is_acknowledged_on_the_first_that_did(stage):
    pull = stage.pull_on_forge()
    advised(stage, pull, ("other.py", "Name it."))
    stage.submit(pull)
    stage.settle()
    mark = fingerprint("Name it.", "other.py")
    stage.agent({"status": "converged", "acks": [{"id": mark, "verdict": "applied"}]})
    stage.step()
    stage.effects()
    assert stage.sim.verbs.expect_thread(pull, f"#{mark}").path == "app.py"
    assert Outbox.objects.filter(topic="flow.effect").latest("id").observed["outcome"] == "done"


@pytest.mark.parametrize(
    ("text", "by", "end"),
    [
        ("Declined, it is used once. factory-ack: app.py :: use a constant here", "dev", "gate_passed"),
        ("nano-ack: app.py :: Use a *constant* here.", "dev", "gate_passed"),
        (f"factory-ack: #{MARK}", "dev", "gate_passed"),
        (f"factory-ack: #{MARK}", "dev", None),
        ("factory-ack: app.py:1", "dev", "ack_budget_spent"),
        ("factory-ack: other.py :: Use a *constant* here.", "dev", "ack_budget_spent"),
        (f"factory-ack: #{MARK}", "eve", "ack_budget_spent"),
    ],
)
def test_only_a_resolved_thread_of_a_trusted_author_that_names_it_acknowledges(stage, settings, text, by, end):
    """CV-S25, CV-S26, CV-H14."""
    retries(settings, 0)
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_user("eve", "NONE")
    advised(stage, pull, CONSTANT)
    stage.submit(pull, auto_merge=False)
    stage.settle()
    thread = stage.sim.verbs.open_thread(pull, "app.py", 1, text, by=by)
    if end is not None:
        stage.sim.verbs.resolve(thread)
    at_gate(stage)
    assert stage.edges[-1] == (end or "ack_budget_spent")  # unresolved, it settles nothing


def test_an_open_acknowledgement_of_an_outsider_is_no_paperwork(stage):
    """CV-H14, CV-H18: only a person settles it."""
    pull = stage.pull_on_forge()
    stage.sim.verbs.add_user("eve", "NONE")
    stage.review(pull, clean=True)
    stage.submit(pull)
    stage.settle()
    stage.sim.verbs.open_thread(pull, "app.py", 1, f"factory-ack: #{MARK}", by="eve")
    at_gate(stage)
    assert stage.edges[-1] == "gate_blocked"


def test_three_announced_and_two_readable_never_pass(stage):
    """CV-S28, CV-H10."""
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT, ("app.py", "Name it."), announced=3)
    stage.submit(pull)
    stage.settle()
    at_gate(stage)
    assert stage.edges[-1] == "gate_unverifiable"
    assert "announces 3 suppressed comments, of which 2 can be read" in stage.task.question


def test_a_block_that_announces_and_lists_nothing_never_passes(stage):
    """CV-S28."""
    pull = stage.pull_on_forge()
    advised(stage, pull, announced=2)
    stage.submit(pull)
    stage.settle()
    at_gate(stage)
    assert stage.edges[-1] == "gate_unverifiable"


def test_an_advisory_that_a_later_commit_fixed_needs_no_acknowledgement(stage):
    """CV-S20: the head without a review is stale; the clean review of it lists the advisory no more."""
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull, auto_merge=False)
    stage.settle()
    stage.push()
    at_gate(stage)
    assert stage.edges[-1] == "gate_stale"
    stage.review(pull, clean=True)
    stage.settle()
    assert stage.edges[-2:] == ["review_arrived", "entry_captured"]  # the agent still has it in its backlog
    at_gate(stage)
    assert stage.edges[-1] == "gate_passed"


def test_every_advisory_of_the_generation_counts_where_the_policy_says_so(stage, policy_file, settings):
    """CV-S24: with advisories all, one that is listed no more is still to be acknowledged."""
    policy_file(f"{NEVER}, advisories: all}}\n")
    retries(settings, 0)
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull)
    stage.settle()
    stage.push()
    stage.review(pull, clean=True)
    at_gate(stage)
    assert stage.edges[-1] == "ack_budget_spent"


def test_a_person_lets_an_advisory_pass_at_this_head_alone(stage, settings):
    retries(settings, 0)
    pull = claimed(stage, _advised_pull(stage), auto_merge=False)
    stage.settle()
    stage.answer(answer="Not worth it.", waive=True)
    stage.settle()
    assert stage.edges[-2:] == ["answered_waive", "gate_passed"]
    assert GateCheck.objects.latest("id").waived == 1
    assert Escalation.objects.get().waivable == {"head": pull.head_sha, "targets": [["advisory", MARK]]}


def _advised_pull(stage):
    pull = stage.pull_on_forge()
    advised(stage, pull, CONSTANT)
    stage.submit(pull, auto_merge=False)
    stage.settle()
    return pull


def test_acknowledgements_are_posted_when_the_push_is_seen(stage):
    """CV-S43: an addressed turn's words leave after its push was found."""
    pull = _advised_pull(stage)
    stage.push()
    stage.agent({"status": "addressed", "acks": [{"id": MARK, "verdict": "applied", "note": "Done."}]})
    stage.step()
    assert not Outbox.objects.filter(payload__effect="acknowledge").exists()
    stage.step()
    assert stage.edges[-1] == "progressed"
    stage.effects()
    assert stage.sim.verbs.expect_thread(pull, f"#{MARK}").is_resolved


def test_a_fresh_empty_review_beside_an_open_advisory_is_a_round(stage):
    """CV-S47: the backlog holds something else."""
    pull = waiting(stage)
    advised(stage, pull, CONSTANT)
    stage.settle()
    stage.push("total = 3\n")
    stage.agent({"status": "addressed"})
    stage.look()
    stage.look()
    stage.review(pull, clean=True)
    stage.settle()
    assert stage.edges[-2:] == ["review_arrived", "entry_captured"]

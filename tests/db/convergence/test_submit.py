import pytest

from convergence.models import ConvergenceFlow, PullRequest, PullRequestGeneration
from convergence.services.cancel import pull_cancel
from convergence.services.look_now import pull_look
from convergence.services.submit import pull_resubmit, pull_submit
from runs.clock import now
from runs.contract.errors import Invalid, NotFound, Refused, Transient
from runs.models import Run
from tests.db.convergence.stage import PERSON, REPO


def test_what_is_no_open_pull_request_is_refused_and_leaves_no_row(stage):
    """CV-S3: an issue's number, a closed one, an unknown one, and GitHub down."""
    pull = stage.pull_on_forge()
    issue = stage.sim.verbs.add_issue(REPO, "Broken")
    for reference in (f"{REPO}#{issue.number}", f"{REPO}#99", "acme/nothing#1"):
        with pytest.raises(NotFound) as raised:
            pull_submit(reference=reference, actor=PERSON)
        assert raised.value.code == "unknown_pull_request"
    stage.sim.verbs.close(pull)
    with pytest.raises(Invalid) as closed:
        stage.submit(pull)
    assert closed.value.code == "pull_request_closed"
    stage.sim.verbs.reopen(pull)
    stage.sim.faults.unauthorised(2)
    with pytest.raises(Transient) as down:
        stage.submit(pull)
    assert down.value.code == "forge_unavailable"
    assert down.value.retry_after >= 1
    assert not PullRequest.objects.exists()


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize("reference", ["acme/shop", "acme/shop#0", "https://elsewhere/acme/shop/pull/1", ""])
def test_a_bad_reference_is_refused(reference):
    with pytest.raises(Invalid) as raised:
        pull_submit(reference=reference, actor=PERSON)
    assert raised.value.code == "bad_reference"


@pytest.mark.parametrize("which", ["branch", "base"])
def test_a_branch_that_git_would_read_as_an_option_is_refused(stage, which):
    """No run could be stored for it, so its flow would never leave its first state."""
    stage.sim.verbs.add_repository(REPO)
    if which == "base":
        stage.sim.verbs.push(REPO, "-d", {"app.py": "total = 0\n"})
    pull = stage.sim.verbs.add_pull(REPO, **{"branch": "feat/x", which: "-d"}, files={"a.py": "x = 1\n"})
    with pytest.raises(Invalid) as raised:
        stage.submit(pull)
    assert raised.value.code == "bad_reference"
    assert "-d" in raised.value.message
    assert not PullRequest.objects.exists()


def test_the_fields_of_a_submission_keep_within_their_bounds(stage):
    pull = stage.pull_on_forge()
    with pytest.raises(Invalid) as deps:
        stage.submit(pull, depends_on=["the other one"])
    assert (deps.value.code, deps.value.details["field"]) == ("dependency_invalid", "dependsOn")
    with pytest.raises(Invalid):
        stage.submit(pull, max_rounds="3")
    answer = stage.submit(pull, max_rounds=500).as_json()
    assert answer == {
        "prKey": f"{REPO}#{pull.number}",
        "state": "converging",
        "round": 1,
        "generation": 1,
        "alreadyRunning": False,
        "ignored": [],
        "warnings": [],
    }
    assert stage.flow.max_rounds == 100


def test_a_running_one_is_not_begun_again(stage):
    pull = stage.pull_on_forge()
    stage.submit(pull)
    again = stage.submit(pull, max_rounds=3).as_json()
    assert again["alreadyRunning"]
    assert again["ignored"] == ["maxRounds"]
    assert ConvergenceFlow.objects.count() == 1


def test_submitting_again_after_the_end_is_a_new_generation(stage):
    """CV-H1, CV-H2: nothing of the older generation goes on."""
    pull = stage.begun()
    token = stage.pull.generations.get().abandon_token
    pull_cancel(pull=stage.pull, actor=PERSON)
    assert Run.objects.get().state == "cancelled"
    answer = stage.submit(pull)
    assert (answer.pull.generation, answer.flow.round, answer.flow.turn) == (2, 1, 0)
    assert PullRequestGeneration.objects.get(number=2).abandon_token != token
    assert ConvergenceFlow.objects.filter(ended_at=None).count() == 1


def test_a_return_from_merging_keeps_what_was_asked_for(stage):
    pull = stage.pull_on_forge()
    stage.submit(pull, max_rounds=7, auto_merge=False)
    with pytest.raises(Refused):
        pull_resubmit(pull=stage.pull, actor="flow:merge:x", now=now())
    pull_cancel(pull=stage.pull, actor=PERSON)
    ours = stage.pull
    pull_resubmit(pull=ours, actor="flow:merge:x", now=now())
    generation = PullRequestGeneration.objects.get(number=2)
    assert (generation.max_rounds, generation.auto_merge, generation.returns) == (7, False, 1)
    assert (ours.generation, ours.state) == (2, "converging")


def test_a_cancel_ends_flow_and_run_and_repeats_alike(stage):
    """CV-H20: the run is cancelled in the same transaction, its code says why."""
    stage.begun()
    attempt = stage.claim()
    assert pull_cancel(pull=stage.pull, actor=PERSON, reason="no more").state == "abandoned"
    assert pull_cancel(pull=stage.pull, actor=PERSON).state == "abandoned"
    run = Run.objects.get(pk=attempt.run_id)
    assert (run.state, run.reason_code) == ("cancelled", "flow_cancelled")
    assert stage.pull.generations.get().outcome == "cancelled by ann"


def test_a_cancel_of_what_has_merged_is_too_late(stage):
    pull = stage.begun()
    stage.sim.verbs.merge_by_hand(pull)
    stage.settle()
    with pytest.raises(Refused) as raised:
        pull_cancel(pull=stage.pull, actor=PERSON)
    assert (raised.value.code, raised.value.details["state"]) == ("already_ended", "merged")


def test_look_now_comes_once_in_ten_seconds(stage):
    pull = stage.pull_on_forge()
    stage.submit(pull)
    ConvergenceFlow.objects.update(due_at=now().replace(year=2999))
    pull_look(pull=stage.pull)
    assert stage.flow.due_at <= now()
    with pytest.raises(Transient) as raised:
        pull_look(pull=stage.pull)
    assert raised.value.code == "rate_limited"
    stage.passes(seconds=11)
    pull_look(pull=stage.pull)


def test_a_fork_that_maintainers_may_not_push_to_is_warned_of(stage):
    stage.pull_on_forge()
    fork = stage.sim.verbs.fork(REPO, "contributor")
    pull = stage.sim.verbs.add_pull(REPO, "fix", files={"b.py": "b\n"}, fork=fork)
    pull.maintainer_can_modify = False
    assert stage.submit(pull).warnings == ["head_may_be_read_only"]
    stage.look()
    spec = Run.objects.get().spec_row.document
    assert spec["workspace"]["headRepository"] == "contributor/shop"
    assert spec["exclusiveKey"] == f"branch:{fork.id}:fix"

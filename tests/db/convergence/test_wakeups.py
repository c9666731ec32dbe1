"""Which rows a delivery wakes, and that it carries no fact inwards."""

import pytest

from convergence.models import ConvergenceFlow
from convergence.wakeups import github_wake
from runs.clock import now
from runs.intake.deliveries import delivery_admit
from runs.models import TransitionLog
from tests.db.convergence.stage import REPO

LATER = 2999


@pytest.fixture
def asleep(stage):
    """A submitted pull request whose next look is far away."""
    pull = stage.begun()
    ConvergenceFlow.objects.update(due_at=now().replace(year=LATER), last_look_at=None)
    repo = stage.sim.world.find_repository(REPO)
    return stage, pull, {"repository": {"id": repo.id}}


CASES = {
    "pull_request": lambda pull: {"pull_request": {"number": pull.number}},
    "pull_request_review": lambda pull: {"pull_request": {"number": pull.number}},
    "pull_request_review_comment": lambda pull: {"pull_request": {"number": pull.number}},
    "pull_request_review_thread": lambda pull: {"pull_request": {"number": pull.number}},
    "issue_comment": lambda pull: {"issue": {"number": pull.number, "pull_request": {"url": "x"}}},
    "check_run": lambda pull: {"check_run": {"head_sha": pull.head_sha}},
    "check_suite": lambda pull: {"check_suite": {"head_sha": "f" * 40, "pull_requests": [{"number": pull.number}]}},
    "status": lambda pull: {"sha": pull.head_sha},
    "workflow_run": lambda pull: {"workflow_run": {"head_sha": pull.head_sha}},
    "push": lambda pull: {"ref": f"refs/heads/{pull.head_ref}"},
    "repository": lambda _: {"action": "renamed"},
}


@pytest.mark.parametrize("kind", CASES)
def test_a_delivery_wakes_what_it_names_and_moves_nothing(asleep, kind):
    """CV-H8: only the due date changes."""
    stage, pull, base = asleep
    edges = TransitionLog.objects.count()
    assert github_wake(kind, {**base, **CASES[kind](pull)}).count == 1
    assert stage.flow.due_at <= now()
    assert TransitionLog.objects.count() == edges


def test_a_push_to_the_base_wakes_too(asleep):
    _, _, base = asleep
    assert github_wake("push", {**base, "ref": "refs/heads/main"}).count == 1
    assert github_wake("push", {**base, "ref": "refs/heads/other"}).count == 0
    assert github_wake("push", {**base, "ref": "refs/tags/v1"}).ignored == "unhandled_action"


def test_what_names_nothing_of_ours_says_why(asleep):
    _, pull, base = asleep
    named = {"pull_request": {"number": pull.number}}
    assert github_wake("ping", base).ignored == "ping"
    assert github_wake("star", base).ignored == "unhandled_kind"
    assert github_wake("pull_request", {**named, "repository": {"id": 1}}).ignored == "repo_not_tracked"
    assert github_wake("pull_request", {**base, "pull_request": {"number": 99}}).count == 0
    assert github_wake("issue_comment", {**base, "issue": {"number": pull.number}}).ignored == "unhandled_action"
    assert github_wake("pull_request", {"repository": "odd", "pull_request": 5}).ignored == "repo_not_tracked"


def test_a_row_that_was_looked_at_a_moment_ago_is_folded(asleep):
    stage, pull, base = asleep
    at = now()
    ConvergenceFlow.objects.update(last_look_at=at)
    github_wake("pull_request", {**base, "pull_request": {"number": pull.number}})
    assert 1.0 <= (stage.flow.due_at - at).total_seconds() <= 3.0
    github_wake("pull_request", {**base, "pull_request": {"number": pull.number}})
    assert 1.0 <= (stage.flow.due_at - at).total_seconds() <= 3.0


def test_the_same_delivery_twice_does_nothing(asleep):
    """CV-H8."""
    stage, pull, base = asleep
    payload = {**base, "pull_request": {"number": pull.number}}
    first = delivery_admit(source="github", delivery_id="d1", kind="pull_request", payload=payload, body=b"{}")
    assert (first.woken, first.duplicate) == (1, False)
    ConvergenceFlow.objects.update(due_at=now().replace(year=LATER))
    again = delivery_admit(source="github", delivery_id="d1", kind="pull_request", payload=payload, body=b"{}")
    assert (again.woken, again.duplicate) == (0, True)
    assert stage.flow.due_at.year == LATER


def test_the_end_of_a_run_wakes_its_flow(stage):
    stage.begun()
    stage.agent({"status": "addressed"})
    ConvergenceFlow.objects.update(due_at=now().replace(year=LATER))
    stage.effects()
    assert stage.flow.due_at <= now()

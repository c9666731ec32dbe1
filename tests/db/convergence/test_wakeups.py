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


WRONG: tuple[object, ...] = (None, True, -1, 2**70, 1.5, "", "\0", "x" * 300, [], [[]], [None], {}, {"a": []})
PLACES = (
    ("action",), ("number",), ("ref",), ("sha",), ("repositories",), ("repository",), ("repository", "id"),
    ("pull_request",), ("pull_request", "number"), ("issue",), ("issue", "number"), ("issue", "pull_request"),
    *((name, *rest) for name in ("check_run", "check_suite", "workflow_run")
      for rest in ((), ("pull_requests",), ("pull_requests", "number"), ("head_sha",), ("check_suite",))),
    ("merge_group",), ("merge_group", "base_ref"),
)  # fmt: skip
KINDS = (*CASES, "merge_group", "installation", "installation_repositories")


def broken(base, place, value):
    """A payload with the value at the place; a number of a list stands in the list's first entry."""
    payload = {"action": "created", "issue": {"number": 1, "pull_request": {"url": "x"}}, **base}
    inner = payload
    for name in place[:-1]:
        inner[name] = [{}] if name == "pull_requests" else dict(inner.get(name) or {})
        inner = inner[name][0] if name == "pull_requests" else inner[name]
    inner[place[-1]] = value
    return payload


@pytest.mark.parametrize("kind", KINDS)
def test_a_payload_with_wrong_types_is_admitted_and_wakes_nobody_else(asleep, kind):
    """GH-H11: whatever stands in a delivery, its sender gets an answer, and no row but one it names is touched."""
    _, _, base = asleep
    for number, (place, value) in enumerate((place, value) for place in PLACES for value in WRONG):
        body = broken(base, place, value)
        admission = delivery_admit(source="github", delivery_id=f"{kind}-{number}", kind=kind, payload=body, body=b"{}")
        assert admission.admitted
    assert github_wake("pull_request", {**base, "number": True}).count == 0


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

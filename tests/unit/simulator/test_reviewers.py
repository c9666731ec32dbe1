"""Review requests in the spellings that GitHub knows, and the reviewer bot that follows its script."""

from typing import Any

import pytest

from fixtures.simulator import ManualClock, Simulator
from tests.unit.simulator.conftest import Client

PATH = "/repos/acme/shop/pulls/1/requested_reviewers"
COPILOT = "copilot-pull-request-reviewer[bot]"
REQUESTS = """query requests($id: ID!) { p0: node(id: $id) { ... on PullRequest {
  reviewRequests(first: 20) { totalCount nodes { requestedReviewer { __typename ... on Bot { login }
    ... on User { login } ... on Team { combinedSlug } } } }
  reviews(last: 20) { nodes { state author { __typename login } } }
  timelineItems(last: 20, itemTypes: [REVIEW_REQUESTED_EVENT]) { totalCount } } } }"""
BY_LOGIN = """mutation ask($pull: ID!, $logins: [String!]!) {
  requestReviewsByLogin(input: {pullRequestId: $pull, botLogins: $logins, union: true}) { clientMutationId } }"""


def requested(client: Client, pull: Any) -> list[Any]:
    shown = client.graphql(REQUESTS, id=pull.node_id)["data"]["p0"]
    assert shown["timelineItems"]["totalCount"] >= shown["reviewRequests"]["totalCount"]
    return [node["requestedReviewer"] for node in shown["reviewRequests"]["nodes"]]


def test_only_the_bot_login_with_its_suffix_registers_and_is_shown_under_another_name(
    client: Client, pull: Any
) -> None:
    assert client.rest("POST", PATH, {"reviewers": ["Copilot"]}).status_code == 201
    assert requested(client, pull) == []
    assert client.rest("POST", PATH, {"reviewers": ["copilot-pull-request-reviewer"]}).status_code == 422
    assert client.rest("POST", PATH, {"reviewers": [COPILOT]}).status_code == 201
    assert requested(client, pull) == [{"__typename": "Bot", "login": "Copilot"}]
    assert [u["login"] for u in client.rest("GET", PATH).json()["users"]] == ["Copilot"]


def test_the_mutation_by_login_registers_too(client: Client, pull: Any) -> None:
    client.graphql(BY_LOGIN, pull=pull.node_id, logins=["copilot-pull-request-reviewer"])
    assert requested(client, pull) == [{"__typename": "Bot", "login": "Copilot"}]


def test_people_and_teams_are_asked_by_rest_strangers_and_the_author_are_refused(
    sim: Simulator, client: Client, pull: Any
) -> None:
    sim.verbs.add_user("ann")
    sim.verbs.add_user("stranger", association="NONE")
    sim.verbs.add_team("acme", "leads")
    for nobody in ("stranger", "unknown", "dev"):
        assert client.rest("POST", PATH, {"reviewers": [nobody]}).status_code == 422
    assert client.rest("POST", PATH, {"team_reviewers": ["none"]}).status_code == 422
    assert client.rest("POST", PATH, {"reviewers": ["ann"], "team_reviewers": ["leads"]}).status_code == 201
    assert requested(client, pull) == [
        {"__typename": "User", "login": "ann"},
        {"__typename": "Team", "combinedSlug": "acme/leads"},
    ]
    sim.verbs.review(pull, "ann", "APPROVED")
    assert [each["__typename"] for each in requested(client, pull)] == ["Team"]


def test_a_review_ends_the_request_and_its_author_is_spelled_differently_in_both_apis(
    sim: Simulator, client: Client, clock: ManualClock, pull: Any
) -> None:
    sim.verbs.script_review(pull, after=5, threads=[{"path": "app.py", "line": 1, "text": "Name it."}])
    client.rest("POST", PATH, {"reviewers": [COPILOT]})
    clock.advance(4)
    assert pull.reviews == []
    clock.advance(1)
    assert requested(client, pull) == []
    shown = client.graphql(REQUESTS, id=pull.node_id)["data"]["p0"]["reviews"]["nodes"]
    assert shown == [{"state": "COMMENTED", "author": {"__typename": "Bot", "login": "copilot-pull-request-reviewer"}}]
    [review] = client.rest("GET", "/repos/acme/shop/pulls/1/reviews").json()
    assert (review["user"]["login"], review["commit_id"]) == (COPILOT, pull.head_sha)
    assert "generated 1 comment." in review["body"]
    assert [(t.path, t.line) for t in pull.threads] == [("app.py", 1)]


def test_a_review_speaks_for_the_head_at_its_trigger(sim: Simulator, clock: ManualClock, pull: Any) -> None:
    sim.verbs.script_review(pull, after=5, clean=True)
    asked_for = pull.head_sha
    sim.verbs.request_review(pull, "copilot-pull-request-reviewer")
    sim.verbs.push(pull.repo, "feat/total", {"app.py": "later\n"})
    clock.advance(5)
    assert pull.reviews[0].commit_sha == asked_for != pull.head_sha


def test_a_review_may_follow_the_opening_or_a_push(sim: Simulator, clock: ManualClock, shop: Any) -> None:
    script = [{"trigger": "opened", "clean": True}, {"trigger": "pushed", "approve": True}]
    pull = sim.verbs.add_pull(shop, "feat/x", reviewer=script)
    first = pull.head_sha
    clock.advance(0)
    second = sim.verbs.push(shop, "feat/x", {"x.txt": "x\n"})
    clock.advance(0)
    assert [(r.state, r.commit_sha) for r in pull.reviews] == [("COMMENTED", first), ("APPROVED", second)]


def test_removing_a_reviewer_cancels_the_review_and_is_noticed(
    sim: Simulator, client: Client, clock: ManualClock, pull: Any
) -> None:
    sim.verbs.script_review(pull, after=5, clean=True)
    client.rest("POST", PATH, {"reviewers": [COPILOT]})
    client.rest("DELETE", PATH, {"reviewers": ["Copilot"]})
    clock.advance(10)
    assert pull.reviews == []
    assert "was removed" in sim.log.violations.pop()


def test_suppressed_findings_stand_in_a_block_of_the_body(sim: Simulator, clock: ManualClock, pull: Any) -> None:
    found = [{"path": "app.py", "line": 2, "text": "Empty input is not covered."}, {"path": "app.py", "text": "All."}]
    sim.verbs.script_review(pull, suppressed=found)
    sim.verbs.request_review(pull, "copilot-pull-request-reviewer")
    clock.advance(0)
    head, _, block = pull.reviews[0].body.partition("<details>\n<summary>Suppressed comments (2)</summary>")
    assert "generated no comments." in head
    assert "**app.py:2**\n* Empty input is not covered.\n```\n    return 1\n```" in block
    assert "**app.py**\n* All." in block
    assert block.endswith("</details>")


@pytest.mark.parametrize(
    ("entry", "status", "pending"),
    [
        ({"ignore": True}, 201, 0),
        ({"unassignable": True}, 422, 0),
        ({"dismiss_request": True, "after": 5}, 201, 1),
        ({"changes_requested": True, "after": 5}, 201, 1),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_script_may_lead_a_request_to_something_else(
    sim: Simulator, client: Client, clock: ManualClock, pull: Any, *, entry: Any, status: int, pending: int
) -> None:
    sim.verbs.script_review(pull, **entry)
    assert client.rest("POST", PATH, {"reviewers": [COPILOT]}).status_code == status
    assert len(pull.requested) == pending
    clock.advance(6)
    assert pull.requested == []
    assert [r.state for r in pull.reviews] == (["CHANGES_REQUESTED"] if "changes_requested" in entry else [])


def test_a_request_can_be_ignored_or_dropped_by_a_fault(
    sim: Simulator, client: Client, clock: ManualClock, pull: Any
) -> None:
    sim.faults.ignore_request()
    sim.faults.dismiss_request()
    sim.verbs.script_review(pull, clean=True)
    for pending in (0, 1):
        assert client.rest("POST", PATH, {"reviewers": [COPILOT]}).status_code == 201
        assert len(pull.requested) == pending
    clock.advance(1)
    assert (pull.requested, pull.reviews) == ([], [])


def test_a_thread_follows_its_line_and_is_outdated_when_it_is_gone(sim: Simulator, pull: Any) -> None:
    thread = sim.verbs.open_thread(pull, "app.py", 2, "Why 1?")
    sim.verbs.push(pull.repo, "feat/total", {"app.py": "# note\ndef total(xs):\n    return 1\n"})
    assert (thread.line, thread.is_outdated) == (3, False)
    sim.verbs.push(pull.repo, "feat/total", {"app.py": "def total(xs):\n    return sum(xs)\n"})
    assert (thread.line, thread.original_line, thread.is_outdated) == (None, 2, True)

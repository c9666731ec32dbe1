"""Every REST route answers as GitHub's contract says; lists page, reads revalidate, names redirect."""

import base64
import time
from typing import Any

import pytest
import requests

from fixtures.simulator import ManualClock, Simulator
from tests.contracts.rest import ContractError, validate_answer, validate_request
from tests.unit.simulator.conftest import Client

SHOP = "/repos/acme/shop"
COPILOT = "copilot-pull-request-reviewer[bot]"


def test_every_read_answers_as_the_contract_says(sim: Simulator, client: Client, shop: Any, pull: Any) -> None:
    issue = sim.verbs.add_issue(shop, "Totals are wrong", "They are 0.")
    sim.verbs.comment(issue, "Indeed.")
    sim.verbs.comment(pull, "Please look.")
    sim.verbs.open_thread(pull, "app.py", 1, "Name it.")
    sim.verbs.open_thread(pull, "app.py", None, "About the file.")
    sim.verbs.request_review(pull, "copilot-pull-request-reviewer")
    sim.verbs.add_check(pull, "test", "FAILURE")
    sim.verbs.add_check(pull, "lint", None)
    paths = {
        "/user": "login",
        "/rate_limit": "rate",
        SHOP: "id",
        f"{SHOP}/pulls/1": "mergeable_state",
        f"{SHOP}/pulls?state=all&base=main": 0,
        f"{SHOP}/pulls?head=acme:feat/total": 0,
        f"{SHOP}/pulls/1/files": 0,
        f"{SHOP}/pulls/1/commits": 0,
        f"{SHOP}/pulls/1/reviews": 0,
        f"{SHOP}/pulls/1/comments": 0,
        f"{SHOP}/pulls/1/requested_reviewers": "users",
        f"{SHOP}/issues/1": "pull_request",
        f"{SHOP}/issues/2": "title",
        f"{SHOP}/issues/1/comments": 0,
        f"{SHOP}/issues/2/comments": 0,
        f"{SHOP}/compare/main...feat/total": "ahead_by",
        f"{SHOP}/commits/{pull.head_sha}": "files",
        f"{SHOP}/commits/{pull.head_sha}/check-runs": "check_runs",
        f"{SHOP}/commits/feat/total/check-runs": "check_runs",
        f"{SHOP}/contents/app.py": "content",
        f"{SHOP}/git/ref/heads/feat/total": "object",
    }
    for path, key in paths.items():
        answer = client.rest("GET", path)
        assert answer.status_code == 200, path
        assert answer.json()[key] is not None, path


def test_contents_come_as_bytes_of_the_ref_that_is_asked(client: Client, pull: Any) -> None:
    on_main = client.rest("GET", f"{SHOP}/contents/app.py").json()["content"]
    on_head = client.rest("GET", f"{SHOP}/contents/app.py?ref={pull.head_sha}").json()["content"]
    assert base64.b64decode(on_main) == b"def total(xs):\n    return 0\n"
    assert base64.b64decode(on_head) == b"def total(xs):\n    return 1\n"


def test_what_is_not_there_is_not_found(client: Client, pull: Any) -> None:
    del pull
    for path in ("/pulls/9", "/issues/9", "/git/ref/heads/none", "/contents/none.py", "/compare/main...none"):
        assert client.rest("GET", SHOP + path).status_code == 404
    assert client.rest("GET", "/repos/acme/none").status_code == 404


def test_every_write_has_its_effect_and_answers_as_the_contract_says(
    sim: Simulator, client: Client, shop: Any, pull: Any
) -> None:
    said = client.rest("POST", f"{SHOP}/issues/1/comments", {"body": "Hello."})
    assert said.status_code == 201
    sim.verbs.expect_comment(pull, "Hello.")

    file_comment = {"body": "About it.", "commit_id": pull.head_sha, "path": "app.py", "subject_type": "file"}
    made = client.rest("POST", f"{SHOP}/pulls/1/comments", file_comment)
    assert (made.status_code, sim.verbs.expect_thread(pull, "About it.").subject_type) == (201, "FILE")
    elsewhere = {**file_comment, "path": "none.py"}
    assert client.rest("POST", f"{SHOP}/pulls/1/comments", elsewhere).status_code == 422

    ref = {"ref": "refs/heads/epic/one", "sha": shop.branches["main"]}
    assert client.rest("POST", f"{SHOP}/git/refs", ref).status_code == 201
    assert client.rest("POST", f"{SHOP}/git/refs", ref).json()["message"] == "Reference already exists"

    sim.verbs.push(shop, "epic/one", {"epic.txt": "one\n"})
    opened = {"title": "Epic", "head": "epic/one", "base": "main", "body": "All of it.", "draft": True}
    assert client.rest("POST", f"{SHOP}/pulls", opened).json()["number"] == 2
    again = client.rest("POST", f"{SHOP}/pulls", opened)
    assert (again.status_code, "already exists" in again.json()["message"]) == (422, True)

    edited = client.rest("PATCH", f"{SHOP}/pulls/2", {"title": "Epic one", "base": "feat/total"}).json()
    assert (edited["title"], edited["base"]["ref"]) == ("Epic one", "feat/total")
    assert client.rest("PATCH", f"{SHOP}/pulls/2", {"state": "closed"}).json()["state"] == "closed"
    assert client.rest("PATCH", f"{SHOP}/pulls/2", {"state": "open"}).json()["state"] == "open"

    assert client.rest("DELETE", f"{SHOP}/git/refs/heads/epic/one").status_code == 204
    assert client.rest("GET", f"{SHOP}/git/ref/heads/epic/one").status_code == 404
    assert client.rest("DELETE", f"{SHOP}/git/refs/heads/epic/one").status_code == 422
    assert client.rest("GET", f"{SHOP}/pulls/2").json()["state"] == "closed"


def test_lists_are_paged_with_links_that_lead_to_the_end(sim: Simulator, client: Client, shop: Any) -> None:
    issue = sim.verbs.add_issue(shop, "Many comments")
    for number in range(7):
        sim.verbs.comment(issue, f"comment {number}")
    path, found = f"{SHOP}/issues/{issue.number}/comments?per_page=3", []
    while path:
        answer = client.rest("GET", path)
        found += [comment["body"] for comment in answer.json()]
        path = answer.links.get("next", {}).get("url", "").removeprefix(sim.api_url)
    assert found == [f"comment {number}" for number in range(7)]


def test_an_unchanged_read_is_304_and_free(client: Client, shop: Any) -> None:
    del shop
    first = client.rest("GET", SHOP)
    second = client.rest("GET", SHOP, **{"If-None-Match": first.headers["etag"]})
    assert (second.status_code, second.content) == (304, b"")
    assert second.headers["x-ratelimit-remaining"] == first.headers["x-ratelimit-remaining"] == "4999"
    assert client.rest("GET", SHOP).headers["x-ratelimit-remaining"] == "4998"


def test_an_old_name_redirects_until_another_repository_takes_it(sim: Simulator, client: Client, shop: Any) -> None:
    sim.verbs.rename(shop, "beta/store")
    moved = client.rest("GET", f"{SHOP}/git/ref/heads/main")
    assert moved.status_code == 301
    number = moved.headers["location"].removeprefix(sim.api_url)
    assert number == f"/repositories/{shop.id}/git/ref/heads/main"
    there = requests.get(
        moved.headers["location"],
        headers={"Authorization": f"Bearer {sim.token}", "User-Agent": "test"},
        timeout=10,
    )
    assert there.json()["object"]["sha"] == shop.branches["main"]
    other = sim.verbs.add_repository("acme/shop")
    assert client.rest("GET", SHOP).json()["id"] == other.id != shop.id


def test_without_good_credentials_nothing_is_read(sim: Simulator, shop: Any) -> None:
    del shop
    for headers in ({}, {"Authorization": "Bearer ghp_wrong"}, {"Authorization": f"Bearer {sim.control_token}"}):
        answer = requests.get(sim.api_url + SHOP, headers={"User-Agent": "test", **headers}, timeout=10)
        assert answer.status_code == 401
        validate_answer("GET", SHOP, 401, answer.json())


def test_limits_are_told_and_a_request_sent_while_blocked_is_noticed(
    sim: Simulator, client: Client, clock: ManualClock, shop: Any
) -> None:
    del shop
    sim.faults.rate_limit("core", remaining=1)
    assert client.rest("GET", SHOP).headers["x-ratelimit-remaining"] == "0"
    refused = client.rest("GET", SHOP)
    assert (refused.status_code, refused.headers["x-ratelimit-remaining"]) == (403, "0")
    assert sim.leftovers() == []
    client.rest("GET", SHOP)
    assert "was sent while core was blocked" in sim.leftovers()[0]
    sim.log.violations.clear()
    clock.advance(3601)
    assert client.rest("GET", SHOP).status_code == 200


def test_what_was_under_way_when_a_limit_struck_is_forgiven(sim: Simulator) -> None:
    sim.faults.rate_limit("core", remaining=0)
    before = time.monotonic()
    for arrived in (before, before, time.monotonic() - 1):
        assert sim.world.limits.refuse("core", arrived)
    assert sim.leftovers() == []
    sim.world.limits.refuse("core", time.monotonic() + 1)
    assert "was blocked" in sim.log.violations.pop()


@pytest.mark.parametrize("header", [True, False])
def test_a_secondary_limit_blocks_for_its_seconds(
    sim: Simulator, client: Client, clock: ManualClock, shop: Any, header: bool
) -> None:
    del shop
    sim.faults.secondary_limit(90, header=header)
    refused = client.rest("GET", SHOP)
    assert refused.status_code == 403
    assert "secondary rate limit" in refused.json()["message"]
    assert refused.headers.get("retry-after") == ("90" if header else None)
    clock.advance(91)
    assert client.rest("GET", SHOP).status_code == 200


def test_the_contract_helpers_refuse_what_github_does_not_have() -> None:
    with pytest.raises(ContractError, match="no operation"):
        validate_request("POST", "/repos/a/b/pulls/1/approve")
    with pytest.raises(ContractError, match="unknown keys"):
        validate_request("PUT", "/repos/a/b/pulls/1/merge", {"sha": "x", "force": True})
    with pytest.raises(ContractError, match="octopus"):
        validate_request("PUT", "/repos/a/b/pulls/1/merge", {"merge_method": "octopus"})
    with pytest.raises(ContractError, match="required"):
        validate_answer("PUT", "/repos/a/b/pulls/1/merge", 200, {"merged": True})
    with pytest.raises(ContractError, match="does not answer 418"):
        validate_answer("PUT", "/repos/a/b/pulls/1/merge", 418, {})

"""Named faults strike once, where their name says, before or after the effect."""

import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from fixtures.simulator import LeftoversError, ManualClock, Simulator
from tests.unit.simulator.conftest import Client

SHOP = "/repos/acme/shop"
COMMENT = f"{SHOP}/issues/1/comments"
BOUNDED_SECONDS = 10.0


def until(fact: Any) -> None:
    """Wait for a fact, not longer than a bound."""
    pause, end = threading.Event(), time.monotonic() + BOUNDED_SECONDS
    while not fact():
        assert time.monotonic() < end, "the fact never came"
        pause.wait(0.01)


def merge_later(client: Client, pull: Any) -> Any:
    """Send the merge from another thread."""
    pool = ThreadPoolExecutor(1)
    return pool.submit(client.rest, "PUT", f"{SHOP}/pulls/1/merge", {"sha": pull.head_sha, "merge_method": "squash"})


def test_an_operation_fails_without_its_effect_and_works_the_next_time(
    sim: Simulator, client: Client, pull: Any
) -> None:
    sim.faults.fail_next("comment", 502, times=2)
    for status in (502, 502, 201):
        assert client.rest("POST", COMMENT, {"body": "Hello."}).status_code == status
    assert len(pull.comments) == 1
    sim.verbs.expect_comment(pull, "Hello.")
    assert [f["struck"] for f in sim.faults.listing()] == [2]


@pytest.mark.parametrize(("fault", "effects"), [("cut_next", 0), ("lose_answer", 1)])
def test_a_broken_connection_before_and_after_the_effect(
    sim: Simulator, client: Client, pull: Any, *, fault: str, effects: int
) -> None:
    getattr(sim.faults, fault)("comment")
    with pytest.raises(requests.ConnectionError):
        client.rest("POST", COMMENT, {"body": "Hello."})
    assert len(pull.comments) == effects
    for _ in range(effects):
        sim.verbs.expect_comment(pull)


def test_a_proxy_answers_in_place_of_github_after_the_effect(sim: Simulator, client: Client, pull: Any) -> None:
    sim.faults.garble_next("comment")
    with pytest.raises(requests.JSONDecodeError):
        client.rest("POST", COMMENT, {"body": "Hello."})
    sim.verbs.expect_comment(pull, "Hello.")


def test_an_answer_breaks_off_in_the_middle_of_its_body(sim: Simulator, client: Client, pull: Any) -> None:
    sim.faults.shorten_next("comment")
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        client.rest("POST", COMMENT, {"body": "Hello."})
    sim.verbs.expect_comment(pull, "Hello.")


def test_a_held_answer_comes_after_the_effect_and_only_when_it_is_released(
    sim: Simulator, client: Client, pull: Any
) -> None:
    sim.faults.hold_answer("merge")
    answer = merge_later(client, pull)
    until(lambda: pull.state == "MERGED")
    assert client.rest("GET", f"{SHOP}/pulls/1").json()["merged"] is True
    assert not answer.done()
    assert sim.faults.release("merge") == 1
    assert answer.result(timeout=BOUNDED_SECONDS).json()["merged"] is True


def test_a_hanging_request_has_no_effect(sim: Simulator, client: Client, pull: Any) -> None:
    sim.faults.hang_next("merge")
    answer = merge_later(client, pull)
    until(lambda: sim.faults.listing()[0]["struck"])
    sim.faults.release()
    with pytest.raises(requests.ConnectionError):
        answer.result(timeout=BOUNDED_SECONDS)
    assert pull.state == "OPEN"


def test_a_race_happens_between_the_read_and_the_effect(sim: Simulator, client: Client, pull: Any) -> None:
    judged = client.rest("GET", f"{SHOP}/pulls/1").json()["head"]["sha"]
    sim.faults.race("merge", then=lambda: sim.verbs.push(pull.repo, "feat/total", {"app.py": "late\n"}))
    refused = client.rest("PUT", f"{SHOP}/pulls/1/merge", {"sha": judged, "merge_method": "squash"})
    assert (refused.status_code, pull.state) == (409, "OPEN")


def test_an_answer_is_held_for_an_effect_not_for_a_refusal(sim: Simulator, client: Client, pull: Any) -> None:
    sim.faults.hold_answer("merge", seconds=0)
    refused = client.rest("PUT", f"{SHOP}/pulls/1/merge", {"sha": "0" * 40, "merge_method": "squash"})
    assert (refused.status_code, sim.faults.listing()[0]["struck"]) == (409, 0)
    merged = client.rest("PUT", f"{SHOP}/pulls/1/merge", {"sha": pull.head_sha, "merge_method": "squash"})
    assert (merged.status_code, sim.faults.listing()[0]["struck"]) == (200, 1)


def test_good_credentials_can_be_refused_for_a_while(sim: Simulator, client: Client, pull: Any) -> None:
    del pull
    sim.faults.unauthorised(times=2)
    assert [client.rest("GET", SHOP).status_code for _ in range(3)] == [401, 401, 200]


def test_a_fault_that_ceases_strikes_no_more(sim: Simulator, client: Client, pull: Any) -> None:
    del pull
    sim.faults.forbid("acme/shop", 403)
    assert client.rest("GET", SHOP).status_code == 403
    assert sim.faults.cease("forbid") == 1
    assert client.rest("GET", SHOP).status_code == 200


def _unread(sim: Simulator, client: Client) -> None:
    del sim
    client.rest("POST", COMMENT, {"body": "Nobody reads this."})


def _unread_reply(sim: Simulator, client: Client) -> None:
    thread = sim.verbs.open_thread("acme/shop#1", "app.py", 1, "Name it.")
    document = """mutation r($t: ID!) { addPullRequestReviewThreadReply(
      input: {pullRequestReviewThreadId: $t, body: "A reply."}) { clientMutationId } }"""
    client.graphql(document, t=thread.node_id)


def _unused_fault(sim: Simulator, client: Client) -> None:
    del client
    sim.faults.fail_next("merge", 502)


def _unknown_field(sim: Simulator, client: Client) -> None:
    del sim
    client.graphql("query q { viewer { shoeSize } }")


def _unknown_route(sim: Simulator, client: Client) -> None:
    client.rest("GET", f"{SHOP}/releases")
    del sim


def _unknown_key(sim: Simulator, client: Client) -> None:
    send(sim, "POST", f"{SHOP}/pulls/1/requested_reviewers", json={"reviewers": [], "colour": "red"})
    del client


def _exception(sim: Simulator, client: Client) -> None:
    sim.faults.race("get_repository", then=lambda: 1 // 0)
    client.rest("GET", SHOP)


def _merge_without_head(sim: Simulator, client: Client) -> None:
    del sim
    client.rest("PUT", f"{SHOP}/pulls/1/merge", {"merge_method": "squash"})


def _token_in_query(sim: Simulator, client: Client) -> None:
    del client
    send(sim, "GET", f"{SHOP}?access_token={sim.token}")


def _token_in_body(sim: Simulator, client: Client) -> None:
    del client
    send(sim, "POST", COMMENT, json={"body": f"My token is {sim.token}"})
    sim.verbs.expect_comment("acme/shop#1")


def _no_user_agent(sim: Simulator, client: Client) -> None:
    del client
    place = urlsplit(sim.api_url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port or 0, timeout=10)
    connection.request("GET", place.path + SHOP, headers={"Authorization": f"Bearer {sim.token}"})
    assert connection.getresponse().status == 200
    connection.close()


def _removed_reviewer(sim: Simulator, client: Client) -> None:
    del sim
    client.rest("DELETE", f"{SHOP}/pulls/1/requested_reviewers", {"reviewers": ["Copilot"]})


def _doubled_marker(sim: Simulator, client: Client) -> None:
    for text in ("One", "Two"):
        client.rest("POST", COMMENT, {"body": f"{text}\n\n<!-- factory:abc -->"})
        sim.verbs.expect_comment("acme/shop#1", text)


def send(sim: Simulator, method: str, path: str, **more: Any) -> Any:
    """Send what no client of the contract sends."""
    headers = {"Authorization": f"Bearer {sim.token}", "User-Agent": "test"}
    return requests.request(method, sim.api_url + path, headers=headers, timeout=10, **more)


LEFT = [
    (_unread, "comment .* was never read: 'Nobody reads this.'"),
    (_unread_reply, "reply .* was never read: 'A reply.'"),
    (_unused_fault, r"fail_next\(merge\) never struck"),
    (_unknown_field, "Field 'shoeSize' doesn't exist"),
    (_unknown_route, "unknown route asked: GET /api/v3/repos/acme/shop/releases"),
    (_unknown_key, "unknown field 'colour'"),
    (_exception, "exception in a route: .*ZeroDivisionError"),
    (_merge_without_head, "merge of acme/shop#1 without the expected head"),
    (_token_in_query, "carried a token outside its header"),
    (_token_in_body, "carried a token outside its header"),
    (_no_user_agent, "without User-Agent"),
    (_removed_reviewer, "the reviewer Copilot of acme/shop#1 was removed"),
    (_doubled_marker, "two writes with the marker abc"),
]


@pytest.mark.parametrize(("leave", "named"), LEFT, ids=[row[0].__name__.strip("_") for row in LEFT])
def test_a_strict_world_fails_for_what_is_left_and_names_it(tmp_path: Any, *, leave: Any, named: str) -> None:
    """Proves GH-S32; the unknown route and field prove GH-H18."""

    def run() -> None:
        with Simulator(tmp_path, ManualClock()) as sim:
            repo = sim.verbs.add_repository("acme/shop", {"app.py": "x\n"})
            sim.verbs.add_pull(repo, "feat/x", files={"app.py": "y\n"})
            leave(sim, Client(sim))

    with pytest.raises(LeftoversError, match=f"(?s){named}") as caught:
        run()
    assert str(caught.value).count("\n- ") == 1 or leave in (_exception, _token_in_query)


def test_a_test_that_fails_by_itself_keeps_its_own_error(tmp_path: Any) -> None:
    def run() -> None:
        with Simulator(tmp_path, ManualClock()) as sim:
            sim.faults.fail_next("merge", 502)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run()

"""What GitHub limits is obeyed by every thread of the process, and nobody sleeps."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.contract.errors import Transient
from tests.unit.forge.stub import Clock, Reply, client_of


def limited(client, call=lambda client: client.rest("GET", "user")):
    with pytest.raises(Transient) as raised:
        call(client)
    assert raised.value.code == "forge_limited"
    return raised.value.retry_after


def query(client):
    return client.query("query{viewer{login}}", {})


def test_retry_after_blocks_every_resource_until_its_instant(serve):
    clock = Clock()
    stub = serve(lambda _: Reply(status=429, headers={"Retry-After": "90"}, body={"message": "slow down"}))
    pauses: list[float] = []
    client = client_of(stub, clock=clock, pauses=pauses)
    assert 90 <= limited(client) <= 99
    assert 90 <= limited(client, query) <= 99
    clock.at += timedelta(seconds=89)
    assert limited(client) > 0
    assert len(stub.requests) == 1
    assert pauses == []


def test_after_a_block_one_request_goes_first(serve):
    clock = Clock()
    stub = serve(lambda _: Reply(status=403, headers={"Retry-After": "60"}, body={}))
    client = client_of(stub, clock=clock)
    limited(client)
    clock.at += timedelta(seconds=70)
    meanwhile = []

    def script(_request):
        meanwhile.append(limited(client))  # a second caller while the first request is on its way
        return Reply(body={})

    stub.script = script
    client.rest("GET", "user")
    assert meanwhile == [1.0]
    stub.script = lambda _: Reply(body={})
    client.rest("GET", "user")
    assert len(stub.requests) == 3


def test_a_spent_budget_blocks_its_own_resource_until_the_reset(serve):
    clock = Clock()
    reset = int((clock.at + timedelta(seconds=600)).timestamp())
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}

    def script(request):
        return (
            Reply(body={"data": {"viewer": {"login": "x"}}})
            if request.path == "/graphql"
            else Reply(status=403, headers=headers, body={"message": "API rate limit exceeded"})
        )

    client = client_of(serve(script), clock=clock)
    assert 601 <= limited(client) <= 605
    assert query(client).data["viewer"] == {"login": "x"}


def test_a_good_answer_with_nothing_left_is_the_last_one(serve):
    clock = Clock()
    reset = str(int((clock.at + timedelta(seconds=100)).timestamp()))
    stub = serve(lambda _: Reply(body={}, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}))
    client = client_of(stub, clock=clock)
    client.rest("GET", "user")
    assert 101 <= limited(client) <= 105
    assert len(stub.requests) == 1


def test_a_secondary_limit_without_header_doubles_while_it_repeats(serve):
    """GH-S7: 60, 120, 240 s."""
    clock = Clock()
    stub = serve(lambda _: Reply(status=403, body={"message": "You have exceeded a secondary rate limit."}))
    client, waited = client_of(stub, clock=clock), []
    for _ in range(3):
        waited.append(limited(client))
        clock.at += timedelta(seconds=waited[-1])
    assert waited == [60, 120, 240]
    stub.script = lambda _: Reply(body={})
    client.rest("GET", "user")
    stub.script = lambda _: Reply(status=403, body={"message": "secondary rate limit"})
    assert limited(client) == 60


def test_a_limited_query_blocks_queries_until_the_reset(serve):
    clock = Clock()
    reset = str(int((clock.at + timedelta(seconds=300)).timestamp()))
    stub = serve(
        lambda _: Reply(
            body={"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]},
            headers={"X-RateLimit-Reset": reset},
        )
    )
    client = client_of(stub, clock=clock)
    assert 301 <= limited(client, query) <= 305
    limited(client, query)
    assert len(stub.requests) == 1


def test_a_plain_403_is_no_limit(serve):
    stub = serve(lambda _: Reply(status=403, headers={"X-RateLimit-Remaining": "4000"}, body={"message": "no"}))
    client = client_of(stub, clock=Clock())
    for _ in range(2):
        with pytest.raises(Exception, match="forbids"):
            client.rest("GET", "user")
    assert len(stub.requests) == 2


def test_a_probe_that_breaks_lets_the_next_request_be_the_probe(serve):
    clock = Clock()
    stub = serve(lambda _: Reply(status=403, headers={"Retry-After": "60"}, body={}))
    client = client_of(stub, clock=clock)
    limited(client)
    clock.at = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)
    stub.script = lambda _: Reply(status=500, body={})
    with pytest.raises(Transient, match="not available"):
        client.rest("POST", "x")
    stub.script = lambda _: Reply(body={})
    client.rest("GET", "user")
    assert len(stub.requests) == 3

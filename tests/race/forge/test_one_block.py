"""Two processes that meet one limit at the same time: each has a client of its own, and both share the rows."""

import threading
from datetime import timedelta
from functools import partial

import pytest

from convergence.forge.governor.account import ALL
from convergence.models import ForgeBudget
from convergence.services.forge_budgets import SharedBook
from runs.clock import now
from runs.contract.errors import Transient
from tests.threads import together
from tests.unit.forge.conftest import serve
from tests.unit.forge.stub import Reply, client_of

__all__ = ["serve"]  # a fixture


def outcome(client):
    try:
        return client.rest("GET", "user").body["login"]
    except Transient as error:
        return error.code


@pytest.mark.django_db(transaction=True)
def test_two_processes_meet_one_limit_obey_one_block_and_send_one_probe(serve):
    """GH-S29, GH-H2."""
    both_are_there = threading.Barrier(2)

    def limited(_request):
        both_are_there.wait(10)
        return Reply(status=429, headers={"Retry-After": "90"}, body={"message": "slow down"})

    stub = serve(limited)
    clients = [client_of(stub, book=SharedBook(), now=now) for _ in range(2)]
    assert together([partial(outcome, client) for client in clients]) == ["forge_limited"] * 2
    assert len(stub.requests) == 2, "neither knew of the other's answer"
    [row] = ForgeBudget.objects.filter(blocked_until__isnull=False)
    assert row.resource == ALL
    assert row.blocked_until is not None
    assert 89 <= (row.blocked_until - now()).total_seconds() <= 99
    assert [outcome(client) for client in clients] == ["forge_limited"] * 2
    assert len(stub.requests) == 2

    ForgeBudget.objects.update(blocked_until=now() - timedelta(seconds=1))
    refused = threading.Event()

    def probed(_request):
        refused.wait(10)
        return Reply(body={"login": "factory"})

    stub.script = probed

    def ask(client):
        found = outcome(client)
        refused.set()
        return found

    assert sorted(together([partial(ask, client) for client in clients])) == ["factory", "forge_limited"]
    assert len(stub.requests) == 3
    assert [outcome(client) for client in clients] == ["factory"] * 2

"""Which classes are blocked, and by what, over pauses, caps and the day's budget."""

import pytest

from runs.models import PlacementClass
from runs.policy.document import Policy
from runs.queue.limits.balance import Amount, Balance, Limit, spec_limit
from runs.queue.limits.blocking import PAUSES, Block, BlockCode, OpenAttempts, PauseSeen, Standing

FULL_DAY = Balance(Limit(micro_usd=200), spent=Amount(150), reserved=Amount(50))


def a_class(**changes):
    return PlacementClass(
        **{"adapter": "any", "repository": "acme/shop", "agent_id": "pr-review", "weight_class": "heavy", **changes}
    )


def running(count=1, **changes):
    row = {"weight_class": "heavy", "repository": "acme/shop", "agent_id": "pr-review", "node": "lab", **changes}
    return OpenAttempts(**row, count=count)


def rules(**blocks):
    return Policy.model_validate({"weightClasses": {"heavy": {}}, **blocks})


def code_of(standing, row=None, node="lab"):
    block = standing.block_of(row or a_class(), node)
    return block.code if block else None


@pytest.mark.parametrize(
    ("pause", "hits", "misses"),
    [
        (PauseSeen(1, "global", ""), [a_class(), a_class(repository="")], []),
        (
            PauseSeen(1, "repository", "ACME/Shop"),
            [a_class()],
            [a_class(repository="acme/web"), a_class(repository="")],
        ),
        (PauseSeen(1, "agent", "pr-review"), [a_class(), a_class(repository="")], [a_class(agent_id="pr-reviewer")]),
    ],
)
def test_a_pause_blocks_its_scope_and_nothing_else(pause, hits, misses):
    standing = Standing(rules(), pauses=[pause])
    assert all(standing.block_of(row, "lab") == Block(PAUSES[pause.scope], pause=pause) for row in hits)
    assert [standing.block_of(row, "lab") for row in misses] == [None] * len(misses)


@pytest.mark.parametrize(
    ("blocks", "attempts", "blocked"),
    [
        ({"weightClasses": {"heavy": {"max": 2}}}, [running(1), running(1, node="other")], "weight_class_full"),
        ({"weightClasses": {"heavy": {"max": 3}}}, [running(2)], None),
        ({"weightClasses": {"heavy": {"max": 1}}}, [running(5, weight_class="light")], None),
        ({"weightClasses": {"heavy": {"perNode": 2}}}, [running(2)], "weight_class_full"),
        ({"weightClasses": {"heavy": {"perNode": 2}}}, [running(1), running(5, node="other")], None),
        ({"weightClasses": {"heavy": {"max": 0}}}, [], "weight_class_full"),
        ({"limits": {"perRepository": {"Acme/Shop": 1}}}, [running(1, agent_id="fix")], "repository_full"),
        ({"limits": {"perRepository": {"default": 1}}}, [running(1)], "repository_full"),
        ({"limits": {"perRepository": {"default": 1}}}, [running(9, repository="acme/web")], None),
        ({"limits": {"perRepository": {"default": 1, "acme/shop": 2}}}, [running(1)], None),
        ({"limits": {"perRepository": {"default": 1, "acme/shop": None}}}, [running(9)], None),
        ({"limits": {"perAgent": {"pr-review": 1}}}, [running(1, repository="acme/web")], "agent_full"),
        ({"limits": {"perAgent": {"fix": 1}}}, [running(9)], None),
        ({}, [running(99)], None),
    ],
)
def test_a_cap_counts_unfinished_attempts_of_its_own_name(blocks, attempts, blocked):
    """RU-S18"""
    assert code_of(Standing(rules(**blocks), open=attempts)) == blocked


def test_no_cap_of_a_node_counts_where_no_node_is_named():
    standing = Standing(rules(weightClasses={"heavy": {"perNode": 1}}), open=[running(1)])
    assert code_of(standing, node="") is None
    assert code_of(standing, node="lab") == "weight_class_full"


def test_a_repository_cap_leaves_work_without_a_repository_alone():
    standing = Standing(rules(limits={"perRepository": {"default": 0}}))
    assert code_of(standing, a_class(repository="")) is None


@pytest.mark.parametrize(
    ("adapter", "blocked"), [("any", True), ("claude", True), ("command", False), ("actions", False)]
)
def test_the_days_budget_stops_what_can_spend_and_nothing_else(adapter, blocked):
    """RU-S19"""
    standing = Standing(rules(), day=FULL_DAY)
    assert (code_of(standing, a_class(adapter=adapter)) == "day_budget") is blocked


def test_the_first_reason_of_the_list_is_the_one_that_is_told():
    """RU-H14"""
    blocks = {
        "weightClasses": {"heavy": {"max": 0}},
        "limits": {"perRepository": {"default": 0}, "perAgent": {"pr-review": 0}},
    }
    pauses = [PauseSeen(1, "global", ""), PauseSeen(2, "repository", "acme/shop"), PauseSeen(3, "agent", "pr-review")]
    told = []
    for left in range(4):
        told.append(code_of(Standing(rules(**blocks), pauses=pauses[left:], day=FULL_DAY)))
    del blocks["weightClasses"]
    told.append(code_of(Standing(rules(**blocks), day=FULL_DAY)))
    del blocks["limits"]["perRepository"]
    told.append(code_of(Standing(rules(**blocks), day=FULL_DAY)))
    told.append(code_of(Standing(rules(), day=FULL_DAY)))
    assert told == [str(code) for code in BlockCode]


@pytest.mark.parametrize(
    ("balance", "told"),
    [
        (Balance(Limit(100), Amount(99)), (False, 99, Limit(1))),
        (Balance(Limit(100), Amount(100)), (True, 100, Limit(0))),
        (Balance(Limit(100), Amount(60), reserved=Amount(40)), (True, 100, Limit(0))),
        (Balance(Limit(100), Amount(120), raised=Amount(50)), (False, 80, Limit(30))),
        (Balance(Limit(100), Amount(250), raised=Amount(50)), (True, 166, Limit(0))),
        (Balance(Limit(None, 10), Amount(10**9, 9), raised=Amount(10**9)), (False, 90, Limit(None, 1))),
        (Balance(Limit(100, 10), Amount(1, 10)), (True, 100, Limit(99, 0))),
        (Balance(Limit(0)), (True, 100, Limit(0))),
        (Balance(Limit(), Amount(10**12, 10**12)), (False, 0, Limit())),
    ],
)
def test_a_balance_counts_what_is_reserved_as_used_and_what_was_raised_as_allowed(balance, told):
    assert (balance.is_reached, balance.percent, balance.left) == told


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        ({"usd": 1.5}, Limit(1_500_000)),
        ({"tokens": 0}, Limit(None, 0)),
        ({"usd": 0.0000014, "tokens": 7}, Limit(1, 7)),
        ({}, Limit()),
    ],
)
def test_a_specification_names_dollars_and_the_database_counts_millionths(budget, limit):
    assert spec_limit({"budget": budget}) == limit

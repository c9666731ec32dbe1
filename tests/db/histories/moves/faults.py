"""Faults of the wire and of the forge, and races at the calls."""

from functools import partial

from tests.db.histories.moves.code import checks_run, open_pull, somebody_pushes, the_base_moves
from tests.db.histories.moves.table import move

READS = ["graphql:Pulls", "compare", "get_pull", None]
WRITES = ["merge", "merge", "enqueue", "update_branch", "comment", "reply", "resolve", "request_review"]
LASTING = (
    "fail_next", "cut_next", "lose_answer", "garble_next", "shorten_next", "race", "rate_limit", "secondary_limit",
    "unauthorised", "forbid", "slow_graphql", "truncate", "shift", "ignore_request", "dismiss_request",
    "ignore_enqueue", "drop_schema", "lose_hooks", "double_hooks", "shuffle_hooks", "delay_hooks",
)  # fmt: skip


def cease(stage):
    """The world is whole again."""
    for name in LASTING:
        stage.sim.faults.cease(name)


@move(4)
def a_write_goes_wrong(stage):
    operation, faults = stage.one(WRITES), stage.sim.faults
    stage.one([
        lambda: faults.fail_next(operation, stage.one([500, 502, 403])),
        lambda: faults.cut_next(operation),
        lambda: faults.lose_answer(operation),
        lambda: faults.garble_next(operation),
        lambda: faults.shorten_next(operation),
    ])()  # fmt: skip


@move(4)
def a_read_goes_wrong(stage):
    operation, faults = stage.one(READS), stage.sim.faults
    stage.one([
        lambda: faults.fail_next(operation, 502, times=stage.one([1, 3])),
        lambda: faults.cut_next(operation),
        lambda: faults.lose_answer(operation),
        lambda: faults.garble_next(operation),
        lambda: faults.shorten_next(operation),
    ])()  # fmt: skip


@move(3)
def a_race_at_the_call(stage):
    then = stage.one([somebody_pushes, the_base_moves, checks_run])
    stage.sim.faults.race(stage.one(["merge", "merge", "enqueue", "update_branch"]), lambda: then(stage))


@move(2)
def a_limit_strikes(stage):
    faults = stage.sim.faults
    stage.one([
        lambda: faults.rate_limit(stage.one(["core", "graphql"])),
        lambda: faults.secondary_limit(stage.one([30, 90]), header=stage.chance(0.5)),
        faults.unauthorised,
    ])()  # fmt: skip


@move(2)
def the_forge_shows_less(stage):
    faults, pull = stage.sim.faults, open_pull(stage)
    stage.one([
        lambda: faults.slow_graphql(1),
        lambda: faults.truncate(stage.one(["reviewThreads", "reviews", "contexts"]), 0, times=2),
        lambda: faults.shift("reviewThreads", times=1),
        lambda: faults.forbid((pull or stage.pulls[0]).repo.full_name, stage.one([404, 403])),
        faults.ignore_request,
        faults.dismiss_request,
        faults.ignore_enqueue,
    ])()  # fmt: skip


@move(3)
def hooks_go_wrong(stage):
    faults = stage.sim.faults
    stage.one([
        partial(faults.lose_hooks, 3),
        partial(faults.double_hooks, 2),
        partial(faults.shuffle_hooks, 1),
        partial(faults.delay_hooks, 30),
    ])()  # fmt: skip


@move(1)
def an_older_server(stage):
    """The server turns out not to know a field; the client is told so once, and asks without it from then on."""
    stage.older = True
    stage.sim.faults.drop_schema("PullRequest.isInMergeQueue")


@move(4)
def the_world_mends(stage):
    cease(stage)

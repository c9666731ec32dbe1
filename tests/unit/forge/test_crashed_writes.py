"""A process killed between a call and its record, for every write: the next one looks, and nothing happens twice."""

import pytest

from convergence.forge.writes.perform import OPERATIONS
from tests.unit.forge import test_simulated_writes as known


def by_target(operation, prepare=None):
    """A write that needs the pull request alone."""

    def made(world):
        if prepare is not None:
            prepare(world)
        return operation, {"pull": world.target, "head_sha": world.pull.head_sha, "comment": "@queue add"}

    return made


def rerun(world):
    run = world.verbs.add_check(world.pull, "test", "FAILURE")
    return "rerun_failed", {"pull": world.target, "run": str(run.suite.run.id)}


def landed_branch(world):
    sha = world.pull.head_sha
    world.verbs.merge_by_hand(world.pull)
    return "delete_branch", {"owner": "acme", "name": "shop", "branch": world.pull.head_ref, "sha": sha}


def queued(world):
    world.verbs.enable_queue("acme/shop")
    assert world.perform("enqueue", by_target("enqueue")(world)[1], key="before").outcome == "queued"


WRITES = {
    **known.WRITES,
    "request_review": lambda world: ("request_review", world.request_arguments()),
    "enqueue": by_target("enqueue", lambda world: world.verbs.enable_queue("acme/shop")),
    "enqueue_by_comment": by_target("enqueue_by_comment"),
    "dequeue": by_target("dequeue", queued),
    "update_branch": by_target(
        "update_branch", lambda world: world.verbs.push("acme/shop", "main", {"b.py": "b = 1\n"}, "Move")
    ),
    "mark_ready": by_target("mark_ready", lambda world: world.verbs.edit(world.pull, draft=True)),
    "reopen": by_target("reopen"),
    "rerun_failed": rerun,
    "delete_branch": landed_branch,
}


def accepted(world):
    """Writes that GitHub took; queries are posted too, under a name of their own."""
    return [
        entry.operation
        for entry in world.log.entries
        if entry.method != "GET" and not entry.operation.startswith("graphql:") and entry.status < 400
    ]


@pytest.mark.parametrize("kind", OPERATIONS)
def test_a_write_whose_record_was_lost_exists_once(world, kind):
    """GH-S18, GH-H9."""
    operation, arguments = WRITES[kind](world)
    world.log.clear()
    world.perform(operation, arguments)
    assert accepted(world), "it was sent"
    world.log.clear()
    world.client = world.new_client()
    again = world.perform(operation, arguments, earlier_try=True)
    assert accepted(world) == []
    assert again.outcome not in ("lost_answer", "not_observed")
    world.sim.strict = False  # what the write left is looked at by the tests of each write

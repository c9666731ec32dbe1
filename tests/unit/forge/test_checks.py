"""The rollup of checks: what stands, whatever the order in which it was read."""

import random
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergence.forge.checks import check_rollup
from convergence.forge.facts import CheckContext, ContextKind, Listing

START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
RED, GREEN, RUNNING = "failing", "passing", "in flight"


def at(minute):
    return START + timedelta(minutes=minute)


def run(name, conclusion="SUCCESS", begin=None, end=None, **more):
    base = {
        "kind": ContextKind.CHECK_RUN,
        "name": name,
        "status": "COMPLETED" if conclusion else "IN_PROGRESS",
        "conclusion": conclusion,
        "started_at": None if begin is None else at(begin),
        "completed_at": None if end is None else at(end),
        "app_id": 1,
        "app_slug": "ci",
        "workflow_id": 1,
        "event": "push",
        "required": True,
    }
    return CheckContext(**{**base, **more})


def status(name, state, minute):
    return CheckContext(kind=ContextKind.STATUS, name=name, status=state, created_at=at(minute), creator="bot")


def rollup(contexts, complete=True, total=None):
    items = tuple(contexts)
    return check_rollup(Listing(items, complete, len(items) if total is None else total))


def verdict(found):
    return RED if found.failing else RUNNING if found.in_flight else GREEN


VECTORS = {
    "cancelled, then success": ([run("test", "CANCELLED", 0, 1), run("test", "SUCCESS", 2, 3)], GREEN, 1),
    "success, then cancelled": ([run("test", "SUCCESS", 0, 1), run("test", "CANCELLED", 2, 3)], RED, 1),
    "no times, no ids": ([run("test", "CANCELLED"), run("test", "SUCCESS")], GREEN, 1),
    "two workflows": ([run("build", "SUCCESS", 0, 1), run("build", "FAILURE", 0, 1, workflow_id=2)], RED, 2),
    "two overlapping runs of one suite": (
        [run("build", "FAILURE", 0, 3, suite_id=5), run("build", "SUCCESS", 1, 2, suite_id=5)],
        RED,
        2,
    ),
    "two runs of one suite one after the other": (
        [run("build", "FAILURE", 0, 1, suite_id=5), run("build", "SUCCESS", 2, 3, suite_id=5)],
        GREEN,
        1,
    ),
    "an overlap that a later run outlived": (
        [
            run("build", "FAILURE", 0, 3, suite_id=5),
            run("build", "SUCCESS", 1, 5, suite_id=5),
            run("build", "SUCCESS", 4, 6, suite_id=5),
        ],
        GREEN,
        2,
    ),
    "re-run in progress": (
        [run("lint", "FAILURE", 0, 1, suite_id=5), run("lint", None, 5, suite_id=5)],
        RUNNING,
        1,
    ),
    "events differ": ([run("ci", "FAILURE", 0, 1), run("ci", "SUCCESS", 0, 1, event="pull_request")], RED, 2),
    "cancelled push, green pull request": (
        [run("ci", "CANCELLED", 0, 1), run("ci", "SUCCESS", 1, 2, event="pull_request")],
        GREEN,
        1,
    ),
    "the greater id is the newer": (
        [run("test", "FAILURE", 5, 6, database_id=1), run("test", "SUCCESS", 0, 1, database_id=2)],
        GREEN,
        1,
    ),
    "stale is as if it had not run": ([run("test", "STALE", 0, 1)], GREEN, 0),
    "stale hides nothing": ([run("test", "FAILURE", 0, 1), run("test", "STALE", 2, 3)], RED, 1),
    "newest status": ([status("cla", "FAILURE", 0), status("cla", "SUCCESS", 1)], GREEN, 1),
    "newest status red": ([status("cla", "SUCCESS", 0), status("cla", "ERROR", 1)], RED, 1),
    "status expected": ([status("cla", "EXPECTED", 0)], RUNNING, 1),
    "status and run of one name": ([status("test", "SUCCESS", 0), run("test", "FAILURE", 0, 1)], RED, 2),
    "skipped and neutral": ([run("a", "SKIPPED", 0, 1), run("b", "NEUTRAL", 0, 1)], GREEN, 2),
    "action required": ([run("a", "ACTION_REQUIRED", 0, 1)], RED, 1),
    "startup failure": ([run("a", "STARTUP_FAILURE", 0, 1)], RED, 1),
    "timed out": ([run("a", "TIMED_OUT", 0, 1)], RED, 1),
}


@pytest.mark.parametrize(("contexts", "expected", "standing"), VECTORS.values(), ids=VECTORS)
def test_each_vector_means_the_same_in_every_order(contexts, expected, standing):
    """GH-S21: which checks stand, and what they say together."""
    found = {rollup(order) for order in permutations(contexts)}
    assert len(found) == 1
    only = found.pop()
    assert (verdict(only), len(only.checks)) == (expected, standing)


def test_the_standing_checks_of_a_name_are_all_listed():
    found = rollup(VECTORS["two workflows"][0])
    assert [check.conclusion for check in found.named("build")] == ["SUCCESS", "FAILURE"]
    assert found.present == {"build"}


def test_contexts_that_were_not_all_read_are_no_complete_rollup():
    assert not rollup([run(f"t{n}") for n in range(100)], complete=False, total=250).complete
    assert rollup([run("t")]).complete
    assert not check_rollup(None).complete


def test_what_a_check_says_about_itself_is_kept():
    context = run("t", "FAILURE", 0, 1, database_id=9, url="https://ci.test/9", workflow_name="ci", required=None)
    (check,) = rollup([context]).checks
    assert (check.producer, check.workflow, check.run_id, check.url, check.required) == (
        "ci",
        "ci",
        9,
        "https://ci.test/9",
        None,
    )


CONCLUSIONS = st.sampled_from(["SUCCESS", "FAILURE", "CANCELLED", "STALE", "SKIPPED", None])


@st.composite
def histories(draw):
    """Runs in the order of their creation: ids and starts grow together, as GitHub makes them."""
    runs, minute = [], 0
    for number in range(draw(st.integers(0, 6))):
        minute += draw(st.integers(0, 3))
        conclusion = draw(CONCLUSIONS)
        runs.append(
            run(
                draw(st.sampled_from(["test", "lint"])),
                conclusion,
                minute,
                minute + draw(st.integers(0, 4)) if conclusion else None,
                database_id=number + 1,
                workflow_id=draw(st.sampled_from([1, 2])),
                event=draw(st.sampled_from(["push", "pull_request"])),
                suite_id=draw(st.sampled_from([1, 2])),
            )
        )
    return runs, minute


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_reading_never_matters(history, shuffle: random.Random):
    """GH-H13: any permutation gives the same rollup."""
    runs, _ = history
    mixed = list(runs)
    shuffle.shuffle(mixed)
    assert rollup(mixed) == rollup(runs)


@given(histories(), st.sampled_from(["test", "lint"]), st.sampled_from([1, 2]), st.sampled_from([1, 2]))
def test_a_newer_green_run_never_makes_a_key_worse(history, name, workflow, suite):
    """GH-H13: a key that did not fail before does not fail after one more success."""
    runs, minute = history
    green = run(name, "SUCCESS", minute, minute + 1, database_id=99, workflow_id=workflow, suite_id=suite)

    def failing(found):
        return {check.key for check in found.failing}

    assert failing(rollup([*runs, green])) <= failing(rollup(runs))
    (newest,) = [check for check in rollup([*runs, green]).checks if check.run_id == 99]
    assert not newest.failing

"""What a list costs does not depend on its rows."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.clock import now
from runs.models import HumanTask, Run
from tests import queue_driver
from tests.browser.world import make_flow, make_pull
from workers.models import Worker

MANY = 8


def cost(program, path):
    with CaptureQueriesContext(connection) as asked:
        answer = program.get(path)
    assert answer.status_code == 200
    return len(asked), len(answer.json()["items"])


def more_pulls(world, at, numbers):
    for number in numbers:
        pull = make_pull(world.waiting.repository, number, f"Change {number}", "converging", at)
        make_flow(pull, "review_round", at)


def more_runs(_world, _at, numbers):
    queue_driver.load_definitions()
    for _ in numbers:
        queue_driver.enqueue()
    queue_driver.claim()
    Run.objects.filter(state="queued").update(hold="exclusive", exclusive_key="branch:1:feat/total")


def more_tasks(world, at, numbers):
    for number in numbers:
        HumanTask.objects.create(
            kind="review_answer",
            subject=world.waiting.subject,
            question=f"Question {number}?",
            dedupe_key=str(number),
            form={"fields": []},
            created_at=at,
            due_at=at,
        )


def more_workers(_world, at, numbers):
    for number in numbers:
        Worker.objects.create(worker_id=f"far.{number}", node="far", started_at=at, last_seen_at=at)


@pytest.mark.parametrize(
    ("name", "add"),
    [("pull-requests", more_pulls), ("runs", more_runs), ("tasks", more_tasks), ("workers", more_workers)],
)
def test_a_list_costs_the_same_for_few_rows_and_for_many(viewer, world, name, add):
    path = f"/api/v1/{name}"
    add(world, now(), range(600, 602))
    viewer.get(path)  # what a process reads once
    few, shown = cost(viewer, path)
    add(world, now(), range(610, 610 + MANY))
    many, all_shown = cost(viewer, path)
    assert all_shown == shown + MANY
    assert many == few

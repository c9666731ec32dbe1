import uuid
from datetime import timedelta

import pytest
from django.test import Client

from runs.clock import now
from runs.models import Attempt, JournalRow
from runs.queue.waiting import run_waiting
from tests.db.workers.queue import queued_run
from tests.db.workers.wire import CLAIM, worker_on
from tests.factories import UserFactory
from workers.liveness import WorkerState
from workers.models import Worker as Row
from workers.selectors import live_workers, worker_counts, workers
from workers.selectors.workers import worker as one_worker
from workers.services.registry import worker_seen, workers_forget

pytestmark = pytest.mark.django_db


def why(run):
    waiting = run_waiting(run)
    assert waiting is not None
    return waiting.code, waiting.text


def boots(worker, count):
    for number in range(count):
        worker.boot = f"20260830T12150{number}Z.9f3c1a"
        assert worker.hello(pid=4711 + number).status_code == 200


def test_a_run_that_no_worker_can_take_names_what_the_nearest_one_lacks(worker):
    run = queued_run(placement={"can": "deploy"})
    assert why(run) == ("unplaceable", "no worker is running; start one with: manage.py work")
    worker.hello(adapters=["pi"], anyAdapter=None)
    near = worker_on("near", labels={"can": ("build",)})
    near.hello(labels={"can": "build"})
    assert why(run)[1] == f"nearest worker {near.worker_id} lacks label can=deploy"


def test_a_worker_counts_for_placement_while_it_lives(worker):
    run = queued_run(placement={"node": "lab"})
    worker.hello()
    assert why(run)[0] == "next_in_line"
    worker.hello(blockedReason="no_adapter")
    assert why(run)[0] == "no_free_worker"
    worker.hello()
    Row.objects.update(last_seen_at=now() - timedelta(seconds=90))
    assert why(run)[0] == "unplaceable"
    worker.hello()
    worker.post("/worker/v1/bye", {"reason": "drained"})
    assert why(run)[0] == "unplaceable"


def test_a_busy_worker_is_shown_with_its_run(worker):
    run = queued_run()
    worker.hello()
    worker.claim()
    row = one_worker(worker.worker_id)
    assert row is not None
    assert (row.state, row.run_id, row.attempt) == (WorkerState.BUSY, run.run_id, 1)
    assert worker_counts() == {"lost": 0, "busy": 1, "draining": 0, "blocked": 0, "idle": 0}


def test_workers_are_listed_newest_first_by_key_in_a_fixed_number_of_queries(worker, django_assert_max_num_queries):
    boots(worker, 5)
    with django_assert_max_num_queries(3):  # workers, attempts, and the clock where the database has it
        page = workers(limit=3)
    assert [row.pid for row in page] == [4715, 4714, 4713]
    assert [row.pid for row in workers(limit=3, before=page[-1].key)] == [4712, 4711]
    assert [row.pid for row in workers(node="elsewhere")] == []


def test_stopped_and_lost_workers_are_not_live(worker):
    boots(worker, 3)
    rows = Row.objects.order_by("id")
    Row.objects.filter(pk=rows[0].pk).update(stopped_at=now())
    Row.objects.filter(pk=rows[1].pk).update(last_seen_at=now() - timedelta(seconds=90))
    assert [row.pid for row in live_workers()] == [4713]


def test_a_sign_of_life_is_written_rarely_and_a_new_offer_at_once(worker):
    worker.claim()
    seen = Row.objects.get().last_seen_at
    worker.claim()
    assert Row.objects.get().last_seen_at == seen
    Row.objects.update(last_seen_at=seen - timedelta(seconds=21))
    worker.claim()
    assert Row.objects.get().last_seen_at > seen
    worker.claim(adapters=["command", "pi"])
    assert Row.objects.get().offer["adapters"] == ["command", "pi"]


def test_a_worker_that_said_bye_and_claims_again_lives_again(worker):
    worker.hello()
    worker.post("/worker/v1/bye", {"reason": "stopped"})
    offer = {key: CLAIM[key] for key in ("labels", "adapters")}
    worker_seen(worker_id=worker.worker_id, node="lab", version="0.1.0", offer=offer)
    assert Row.objects.get().stopped_at is None


def test_rows_are_forgotten_seven_days_after_their_end(worker):
    boots(worker, 3)
    week = now() - timedelta(days=7)
    rows = list(Row.objects.order_by("id"))
    Row.objects.filter(pk=rows[0].pk).update(stopped_at=week, last_seen_at=week)
    Row.objects.filter(pk=rows[1].pk).update(last_seen_at=week)
    assert workers_forget() == 2
    assert [row.pk for row in Row.objects.all()] == [rows[2].pk]


def test_the_clock_of_a_worker_is_only_shown():
    """WP-S14 an hour ahead or behind, the server's instants and journal are those of the right clock."""
    told = []
    for number, hours in enumerate((-1, 0, 1)):
        skewed = worker_on(f"lab-{number}")
        said = (now() + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        assert skewed.hello(time=said).status_code == 200
        queued_run()
        assert skewed.claim(key=str(uuid.uuid4())).json()["claim"] is not None
        attempt = Attempt.objects.get(node=f"lab-{number}")
        journal = list(JournalRow.objects.filter(run=attempt.run).order_by("seq").values_list("edge", "reason_code"))
        told.append((attempt.deadline_at - attempt.claimed_at, journal))
        skew = Row.objects.get(node=f"lab-{number}").clock_skew_ms
        assert skew is not None
        assert abs(skew - hours * 3_600_000) < 60_000
    assert told[0] == told[1] == told[2]


def test_the_admin_window_shows_rows_and_changes_none(worker):
    worker.hello()
    UserFactory(username="root", role="admin")
    client = Client()
    client.force_login(UserFactory._meta.model.objects.get(username="root"))
    for name in ("worker", "credential"):
        page = client.get(f"/admin/workers/{name}/")
        assert page.status_code == 200
        assert client.get(f"/admin/workers/{name}/add/").status_code == 403
    row = Row.objects.get()
    page = client.get(f"/admin/workers/worker/{row.pk}/change/")
    assert page.status_code == 200
    assert client.post(f"/admin/workers/worker/{row.pk}/change/", {"host": "x"}).status_code == 403
    assert client.post(f"/admin/workers/worker/{row.pk}/delete/", {"post": "yes"}).status_code == 403
    credential = client.get("/admin/workers/credential/")
    assert worker.secret not in credential.content.decode()

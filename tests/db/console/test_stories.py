"""What people do on the pages while flows really move: a simulated GitHub on one side, the console on the other."""

from datetime import timedelta
from http import HTTPStatus

import pytest

from convergence.models import Round
from runs.models import HumanTask, Run
from runs.models.user import Role
from runs.queue.attempts.reaper import reaper_pass
from tests import queue_driver as queue
from tests.browser.world import person
from tests.db.console.conftest import Visitor
from tests.db.console.test_acts import address, text
from tests.db.convergence.conftest import stage_on
from tests.db.convergence.test_acks import spec
from tests.db.convergence.test_memory import AGAIN, ASKS, answered, next_round
from tests.site_agents import load_reader, started
from workers.models import Worker


@pytest.fixture
def stage(db, tmp_path, settings):
    del db
    yield from stage_on(settings, tmp_path)


@pytest.fixture
def ben(stage):
    """An operator at a browser without scripts."""
    assert stage.pull is None
    return Visitor(person("ben", Role.OPERATOR))


def test_an_answer_given_without_scripts_lets_the_round_run_again(stage, ben):
    """CO-S2"""
    stage.begun(auto_merge=False)
    stage.agent(ASKS)
    stage.settle()
    task = stage.task
    sent = ben.post(f"/tasks/{task.pk}/complete/", seen=task.seen_hash, resolution="retry", answer="Sum.")
    assert (sent.status_code, sent["Location"]) == (HTTPStatus.SEE_OTHER, f"/tasks/{task.pk}/")
    task.refresh_from_db()
    assert (task.state, task.answered_by) == ("answered", "operator:ben")
    stage.settle()
    assert (stage.flow.state, stage.flow.round, spec()["answer"]) == ("review_round", 1, "Sum.")
    assert Round.objects.count() == 1


def recalled(stage):
    """A later round asks the same again, and memory answers in the name of whoever answered first."""
    pull, _ = answered(stage)
    next_round(stage, pull, "total = 3\n")
    stage.agent(AGAIN)
    stage.settle()
    return pull, HumanTask.objects.get(state="auto_answered")


def test_a_remembered_answer_that_is_undone_while_its_turn_runs_opens_the_question(stage, ben):
    """CO-S4: it stands in Automatic with its giver's name; undone, its run is cancelled."""
    _, task = recalled(stage)
    stage.claim()
    listed = text(ben.get("/tasks/?tab=automatic"))
    assert f"/tasks/{task.pk}/" in listed
    assert "ann" in listed
    assert ben.post(f"/tasks/{task.pk}/revert/", note="It is a product now.").status_code == HTTPStatus.SEE_OTHER
    stage.settle()
    run = Run.objects.latest("id")
    assert (run.state, run.reason_code) == ("cancelled", "answer_reverted")
    assert f'href="/tasks/{stage.task.pk}/"' in text(ben.get("/tasks/"))


def test_a_remembered_answer_that_is_undone_later_lets_the_next_such_question_wait(stage, ben):
    """CO-S4"""
    pull, task = recalled(stage)
    next_round(stage, pull, "total = 4\n")
    ben.post(f"/tasks/{task.pk}/revert/")
    stage.agent(AGAIN)
    stage.settle()
    assert (stage.flow.state, stage.task.question) == ("await_answer", "sum or product")


def test_a_pull_request_is_cancelled_under_its_running_agent(stage, ben):
    """CO-S7: a reason is required; the page says Abandoned, the run's page Cancelled."""
    stage.begun()
    run = stage.claim().run
    page = address(stage.pull)
    refused = ben.post(f"{page}cancel/", seen="1", reason=" ")
    assert (refused.status_code, stage.pull.state) == (HTTPStatus.BAD_REQUEST, "converging")
    assert ben.post(f"{page}cancel/", seen="1", reason="superseded").status_code == HTTPStatus.SEE_OTHER
    shown = text(ben.get(page))
    assert "Abandoned" in shown
    assert "superseded" in shown
    assert "<span>Cancelled</span>" in text(ben.get(f"/runs/{run.run_id}/"))


@pytest.mark.django_db
def test_a_killed_worker_is_lost_and_its_run_says_when_it_is_tried_again(tmp_path):
    """CO-S12"""
    visitor = Visitor(person("ben", Role.OPERATOR))
    load_reader(tmp_path)
    run = started(subject="host:build-7")
    attempt = queue.claim()
    queue.make_due(attempt, silent=True)
    silent = attempt.claimed_at - timedelta(minutes=5)
    Worker.objects.create(worker_id=attempt.worker_id, node=attempt.node, started_at=silent, last_seen_at=silent)
    reaper_pass(queue.seasoned_reaper())
    assert "<span>Lost</span>" in text(visitor.get("/workers/"))
    shown = text(visitor.get(f"/runs/{run.run_id}/"))
    assert "The worker was lost: no sign of life in time" in shown
    assert "tried again by itself" in shown
    assert "environment failure 1 of" in shown

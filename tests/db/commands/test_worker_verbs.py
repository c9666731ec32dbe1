"""`manage.py workers list` and `show`, and the first lines of `status`."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from runs.clock import now
from tests import queue_driver as queue
from workers.models import Worker

pytestmark = pytest.mark.django_db


def made(worker_id, **columns):
    at = now()
    return Worker.objects.create(worker_id=worker_id, node="lab", started_at=at, last_seen_at=at, **columns)


def test_a_busy_worker_shows_its_run_and_when_its_heartbeat_is_due(capsys):
    queue.load_definitions()
    run = queue.enqueue()
    attempt = queue.claim()
    made(attempt.worker_id, offer={"adapters": ["command"], "workspaceKinds": ["worktree"]})
    made("lab.gone", stopped_at=now())
    call_command("workers", "list")
    titles, line = capsys.readouterr().out.splitlines()
    assert titles.split() == ["WORKER", "NODE", "STATE", "OFFER", "RUN", "SEEN", "DUE"]
    assert line.split()[:5] == [attempt.worker_id, "lab", "busy", "command,worktree", run.run_id]
    call_command("workers", "list", "--all", "--json")
    assert len(json.loads(capsys.readouterr().out)["items"]) == 2
    call_command("workers", "show", attempt.worker_id)
    assert f"run: {run.run_id} attempt 1" in capsys.readouterr().out
    with pytest.raises(CommandError, match="there is no worker nobody"):
        call_command("workers", "show", "nobody")


def test_a_worker_that_is_here_is_listed_however_many_came_and_went_after_it(capsys):
    made("lab.here")
    for number in range(3):
        made(f"lab.gone{number}", stopped_at=now())
    call_command("workers", "list", "--limit", "2", "--json")
    assert [each["workerId"] for each in json.loads(capsys.readouterr().out)["items"]] == ["lab.here"]


def test_a_worker_is_asked_to_leave_and_says_who_asked(capsys):
    queue.load_definitions()
    queue.enqueue()
    attempt = queue.claim()
    made(attempt.worker_id)
    call_command("workers", "drain", attempt.worker_id, "--reason", "new disk")
    assert "leaves once its run has ended" in capsys.readouterr().out
    call_command("workers", "list")
    assert "busy, draining" in capsys.readouterr().out
    call_command("workers", "show", attempt.worker_id)
    assert "“new disk”" in capsys.readouterr().out
    call_command("workers", "drain", attempt.worker_id, "--back")
    call_command("workers", "list")
    assert "draining" not in capsys.readouterr().out
    with pytest.raises(CommandError, match="There is no worker nobody"):
        call_command("workers", "drain", "nobody")


def test_status_begins_with_the_control_plane_and_the_queue(capsys):
    queue.load_definitions()
    queue.enqueue()
    queue.enqueue()
    queue.claim()
    Worker.objects.create(worker_id="lab.x", node="lab", started_at=now(), last_seen_at=now() - timedelta(minutes=5))
    call_command("status")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("control   ")
    assert ", reaper never" in lines[0]
    assert lines[1].startswith("queue     ready 1 · backoff 0 · held 0 · running 1 · oldest ready ")
    assert "workers   0 live · 1 lost · 0 blocked" in lines
    call_command("status", "--json")
    queue_facts = json.loads(capsys.readouterr().out)["queue"]
    assert (queue_facts["ready"], queue_facts["running"], queue_facts["held"]) == (1, 1, {})

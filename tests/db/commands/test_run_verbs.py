"""The same verbs from a shell: the same services, the same audit."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from runs.clock import now
from runs.models import JournalRow, Outbox, Run
from runs.nudge import _starter
from runs.outbox.write import outbox_add
from tests import queue_driver as queue
from tests.site_agents import load_reader

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def somebody(monkeypatch, tmp_path):
    monkeypatch.setenv("LOGNAME", "dana")
    load_reader(tmp_path)
    (tmp_path / "input.json").write_text('{"log": "boom"}')
    monkeypatch.chdir(tmp_path)
    yield
    _starter.clear()  # a command of this process wakes passes through huey; the next test has none


def manage(*argv):
    said = StringIO()
    call_command(*argv, stdout=said)
    return said.getvalue()


def refused(*argv):
    with pytest.raises(CommandError) as told:
        manage(*argv)
    assert "\n" not in str(told.value)
    return str(told.value)


def test_a_run_is_started_extended_released_failed_and_retried():
    told = manage("runs", "start", "log-reader@1", "--input", "input.json", "--subject", "host:build-7")
    run = Run.objects.get()
    assert told == f"{run.run_id} is queued; see: manage.py runs show {run.run_id}\n"
    attempt = queue.claim(queue.worker(1))
    queue.beat(attempt, "running", 1)
    assert "the agent has until" in manage("runs", "extend", run.run_id, "900", "--reason", "nearly done")
    assert "falls silent" in refused("workers", "release", queue.worker(1), run.run_id)
    assert "is queued" in manage("workers", "release", queue.worker(1), run.run_id, "--force", "--reason", "stuck")
    queue.release_backoff(run)
    attempt = queue.claim()
    queue.publish(attempt, queue.failed_body(attempt, "policy_denied"))
    assert "force the retry" in refused("runs", "retry", run.run_id)
    assert "is queued" in manage("runs", "retry", run.run_id, "--force", "--reason", "policy mended")
    rows = JournalRow.objects.filter(run=run, actor="operator:dana@cli").order_by("seq")
    assert [(row.edge or row.kind, row.detail.get("reason")) for row in rows] == [
        ("enqueue", None),
        ("extension", "nearly done"),
        ("fail", "stuck"),
        ("retry", "policy mended"),
    ]


def test_one_key_starts_one_run():
    start = ("runs", "start", "log-reader", "--input", "input.json", "--key", "tonight")
    manage(*start)
    assert "was started with this key before; it is queued" in manage(*start)
    assert Run.objects.count() == 1


def test_the_list_takes_every_filter_of_the_api():
    manage("runs", "start", "log-reader@1", "--input", "input.json")
    attempt = queue.claim(queue.worker(1))
    for flag, value in (("--worker", attempt.worker_id), ("--reason", "claimed"), ("--adapter", "command")):
        assert len(json.loads(manage("runs", "list", flag, value, "--json"))["items"]) == 1
    assert manage("runs", "list", "--cause", "fatal") == "no run\n"


def test_a_dead_delivery_is_queued_again():
    row = outbox_add(topic="flow.effect", key="k", stream="s", payload={})
    assert "only a dead one" in refused("runs", "requeue-effect", str(row.pk))
    Outbox.objects.filter(pk=row.pk).update(dead_at=now())
    assert "is delivered again" in manage("runs", "requeue-effect", str(row.pk))
    assert Outbox.objects.get().requeued_by == "operator:dana@cli"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["runs", "start", "nobody", "--input", "input.json"], "manage.py sync_definitions"),
        (["runs", "start", "log-reader", "--input", "none.json"], "--input none.json cannot be read"),
        (["runs", "start", "log-reader", "--input", "agents/log-reader.yaml"], "input schema"),
        (["runs", "start", "pr-review", "--input", "input.json"], "not started directly"),
        (["runs", "extend", "run_x", "60"], "manage.py runs list"),
        (["runs", "retry", "run_x"], "manage.py runs list"),
        (["runs", "requeue-effect", "77"], "manage.py doctor"),
        (["workers", "release", "nobody", "run_x"], "manage.py workers list"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_next_command(argv, told):
    assert told in refused(*argv)
    assert not Run.objects.exists()

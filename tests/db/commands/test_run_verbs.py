"""The same verbs from a shell: the same services, the same audit."""

import json

import pytest

from runs.clock import now
from runs.models import JournalRow, Outbox, Run
from runs.outbox.write import outbox_add
from tests import queue_driver as queue
from tests.browser.fleet import add_entry
from tests.db.commands.conftest import manage, refused
from tests.site_agents import load_reader

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def shell(monkeypatch, tmp_path):
    load_reader(tmp_path)
    (tmp_path / "input.json").write_text('{"log": "boom"}')
    monkeypatch.chdir(tmp_path)


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


def test_the_first_error_of_a_failed_run_stands_on_top_and_its_retry_is_named():
    manage("runs", "start", "log-reader@1", "--input", "input.json")
    run = Run.objects.get()
    attempt = queue.claim()
    add_entry(attempt, 1, "tool_use", {"id": "1", "name": "bash", "input": {"command": "npm test"}})
    add_entry(attempt, 2, "tool_result", {"toolUseId": "1", "content": "1 failing\x1b[2J", "isError": True})
    queue.publish(attempt, queue.failed_body(attempt, "policy_denied", detail={"message": "not on this host"}))
    lines = manage("runs", "show", run.run_id).splitlines()
    start = lines.index("attempt 1 failed: The policy does not allow it (policy_denied); exit code 1; not on this host")
    assert lines[start + 1 : start + 4] == [
        "first error: bash npm test",
        "  | 1 failing[U+001B][2J",
        "next: Compare the definition with policy.yaml.",
    ]
    retry = f"manage.py runs retry {run.run_id} --force (it ended with policy_denied, which another try does not mend)"
    assert lines[start + 4] == f"queue it again: {retry}"
    assert manage("runs", "why", run.run_id) == (
        f"{run.run_id} is failed (policy_denied) and waits for nothing; see: manage.py runs show {run.run_id}; "
        f"queue it again: {retry}\n"
    )

"""What an operator does at the same instant as a worker, the reaper, or another operator."""

from datetime import timedelta
from functools import partial

import pytest

from runs.clock import now
from runs.contract.errors import Refused
from runs.models import Attempt, JournalRow, Outbox, Run
from runs.outbox.requeue import outbox_requeue
from runs.outbox.write import outbox_add
from runs.queue.attempts.reaper import reaper_pass
from runs.queue.audit import journal_faults
from runs.queue.operating.extend import run_extend
from runs.queue.operating.release import run_release
from runs.queue.operating.retry import run_retry
from runs.queue.operating.start import run_start
from tests.queue_driver import beat, claim, enqueue, failed_body, make_due, publish, seasoned_reaper, worker
from tests.site_agents import load_reader, started
from tests.threads import together

ANN = "operator:ann"


def refused_or(body):
    try:
        body()
    except Refused as refused:
        return refused.code
    return "ok"


def test_of_an_extension_and_the_recorded_deadline_the_first_committed_wins():
    """RU-S6: the agent goes on with the later instant, or the extension is told that the time was recorded."""
    seen = set()
    for number in range(30):
        enqueue()
        attempt = claim(worker(number))
        beat(attempt, "running", 1)
        Attempt.objects.filter(pk=attempt.pk).update(agent_deadline_at=now() - timedelta(milliseconds=1))
        code, lease = together(
            [
                partial(refused_or, partial(run_extend, run=attempt.run, seconds=600, actor=ANN)),
                partial(beat, attempt, "running", 2, at_deadline=True),
            ]
        )
        recorded = JournalRow.objects.filter(run=attempt.run, kind="deadline").exists()
        extended = JournalRow.objects.filter(run=attempt.run, kind="extension").exists()
        assert (recorded, extended) == (lease.deadline_recorded, not lease.deadline_recorded)
        assert code == ("deadline_recorded" if recorded else "ok")
        if extended:
            assert lease.agent_deadline_at > lease.server_time
        seen.add(code)
    assert seen  # which of the two comes first is the machine's choice; both endings are consistent
    assert list(journal_faults()) == []


def test_a_release_and_the_reaper_take_a_silent_run_back_once():
    """RU-H16, RU-H1"""
    for number in range(10):
        run = enqueue(maxEnvironmentRetries=3)
        attempt = claim(worker(number))
        make_due(attempt, silent=True)
        code, reaped = together(
            [
                partial(refused_or, partial(run_release, run=run, worker_id=attempt.worker_id, actor=ANN)),
                partial(reaper_pass, seasoned_reaper()),
            ]
        )
        assert (code, reaped) in {("ok", 0), ("not_held", 1)}
        run.refresh_from_db()
        assert (run.state, JournalRow.objects.filter(run=run, edge="fail").count()) == ("queued", 1)


@pytest.fixture
def reader(tmp_path):
    load_reader(tmp_path)


@pytest.mark.usefixtures("reader")
def test_a_failed_run_is_queued_again_once():
    run = started()
    publish(attempt := claim(), failed_body(attempt, "policy_denied"))
    retry = partial(refused_or, partial(run_retry, run=run, actor=ANN, force=True))
    assert sorted(together([retry] * 4)) == ["ok", *["run_not_retryable"] * 3]
    assert JournalRow.objects.filter(run=run, edge="retry").count() == 1


@pytest.mark.usefixtures("reader")
def test_one_key_sent_at_once_starts_one_run():
    """RU-H9"""
    start = partial(run_start, agent="log-reader@1", variables={"log": "boom"}, actor=ANN, key="tonight")
    answers = together([start] * 6)
    assert len({answer.run.pk for answer in answers}) == Run.objects.count() == 1
    assert [answer.created for answer in answers].count(True) == 1


def test_a_dead_delivery_is_queued_again_once():
    row = outbox_add(topic="flow.effect", key="k", stream="s", payload={})
    Outbox.objects.filter(pk=row.pk).update(dead_at=now())
    requeue = partial(refused_or, partial(outbox_requeue, row_id=row.pk, actor=ANN))
    assert sorted(together([requeue] * 4)) == [*["not_requeueable"] * 3, "ok"]

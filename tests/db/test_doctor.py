import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from pydantic import SecretStr

from factory_site.doctor.report import every_check, findings, findings_stored
from factory_site.models import Backup, DoctorReport
from factory_site.status import anomalies
from runs.clock import now
from runs.models import Artifact, Attempt, Outbox, PeriodicTask, Run
from tests import queue_driver as queue
from workers.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def definitions(settings):
    settings.FACTORY = settings.FACTORY.model_copy(update={"github_token": SecretStr("ghp_of_the_test")})
    queue.load_definitions()
    Backup.objects.create(taken_at=now(), path="x", size_bytes=1, rows=1, objects_count=0)


def codes():
    return {each.code: each for each in findings()}


def make_worker(worker_id="lab.1", **columns):
    at = now()
    fields = {"node": "lab", "started_at": at - timedelta(hours=1), "last_seen_at": at, **columns}
    return Worker.objects.create(worker_id=worker_id, **fields)


def queued(**columns):
    run = queue.enqueue()
    Run.objects.filter(pk=run.pk).update(queued_at=now() - timedelta(minutes=40), **columns)
    return run


def spoil_nothing_to_take():
    queued()
    return "no_workers"


def spoil_unplaceable():
    make_worker()
    queued()
    return "unplaceable"


def spoil_outbox_dead():
    row = Outbox.objects.create(topic="x", key="k", stream="s", created_at=now(), available_at=now(), dead_at=now())
    assert row.pk
    return "outbox_dead"


def spoil_pass():
    PeriodicTask.objects.create(name="flows", interval_seconds=1, due_at=now() + timedelta(hours=1), error="it broke")
    return "pass_failing"


def spoil_stalled():
    PeriodicTask.objects.create(name="flows", interval_seconds=1, due_at=now() - timedelta(minutes=2))
    return "task_stalled"


def spoil_reaper():
    PeriodicTask.objects.create(name="reaper", interval_seconds=5, due_at=now() - timedelta(seconds=40))
    return "reaper_stalled"


def spoil_attempt():
    queue.enqueue()
    attempt = queue.claim()
    Attempt.objects.filter(pk=attempt.pk).update(heartbeat_due_at=now() - timedelta(minutes=5))
    return "attempt_overdue"


def spoil_preparing():
    queue.enqueue()
    attempt = queue.claim()
    Attempt.objects.filter(pk=attempt.pk).update(claimed_at=now() - timedelta(minutes=20))
    return "leased_not_started"


def spoil_lost():
    make_worker(last_seen_at=now() - timedelta(minutes=10))
    return "worker_lost"


def spoil_blocked():
    make_worker(blocked_reason="disk_full")
    return "worker_blocked"


def spoil_quarantine():
    make_worker(quarantined=2)
    return "quarantine"


def spoil_artifact():
    Artifact.objects.create(sha256="0" * 64, size_bytes=1, media_type="x", stored_at=now(), quarantined_at=now())
    return "artifact_corrupt"


SPOILERS = [value for name, value in sorted(globals().items()) if name.startswith("spoil_")]


def test_a_healthy_system_has_no_anomalies():
    out = io.StringIO()
    call_command("doctor", stdout=out)
    assert out.getvalue().strip() == "no anomalies"
    assert anomalies() == []


@pytest.mark.parametrize("spoil", SPOILERS)
def test_each_fault_is_found_with_the_command_that_mends_it(spoil):
    """CO-H27: a sentence and a next step for each; the command, the status and the console say the same."""
    assert codes() == {}
    code = spoil()
    found = codes()
    assert code in found
    assert found[code].text
    assert found[code].mend
    assert code in {each["code"] for each in anomalies()}
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json", stdout=out)
    assert ended.value.code == 1
    assert code in {each["code"] for each in json.loads(out.getvalue())["items"]}


def test_a_clock_that_is_off_is_a_notice_and_no_fault():
    make_worker(clock_skew_ms=-90_000)
    out = io.StringIO()
    call_command("doctor", stdout=out)
    assert "- clock_skew: the clock of lab is off by 90 s" in out.getvalue()
    assert anomalies() == []


def broken(_):
    raise RuntimeError


def test_a_check_that_fails_reports_itself_and_hides_no_other():
    spoil_quarantine()
    assert {"check_failed", "quarantine"} <= {each.code for each in findings([broken, *every_check()])}


def test_the_frame_reads_the_last_evaluation_and_runs_no_check():
    findings_stored()
    spoil_quarantine()
    assert DoctorReport.objects.get().anomalies == 0
    findings_stored()
    assert DoctorReport.objects.get().anomalies == 2


@pytest.mark.parametrize(("failures", "often"), [(1, "once"), (4, "4 times")])
def test_a_run_that_failed_for_good_is_told_in_plain_words(failures, often):
    run = queued()
    ended = {"state": "failed", "cause": "environment", "reason_code": "adapter_error", "ended_at": now()}
    Run.objects.filter(pk=run.pk).update(**ended, environment_failures=failures)
    assert codes()["retry_exhausted"].text == f"{run.run_id} failed {often}, the last time with: adapter error"

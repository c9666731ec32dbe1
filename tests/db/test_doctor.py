"""The doctor as a whole: its exit code, what a broken check does, the stored number, the kept answer."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from pydantic import SecretStr

from factory_site.doctor import address
from factory_site.doctor.report import every_check, findings, findings_forget, findings_recent
from factory_site.doctor.serving import findings_stored
from factory_site.models import Backup, DoctorReport
from factory_site.status import anomalies
from runs.clock import now
from runs.contract.tokens import VARIABLES
from runs.models import Run
from tests import queue_driver as queue
from workers.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def healthy(settings, monkeypatch):
    """An installation with nothing to complain of, whose control plane answers."""
    settings.FACTORY = settings.FACTORY.model_copy(update={"github_token": SecretStr("ghp_of_the_test")})
    monkeypatch.setattr(address, "control_health", lambda: {"status": "ok"})
    queue.load_definitions()
    Backup.objects.create(taken_at=now(), path="x", size_bytes=1, rows=1, objects_count=0)


def make_worker(**columns):
    fields = {"worker_id": "lab.1", "node": "lab", "started_at": now(), "last_seen_at": now(), **columns}
    return Worker.objects.create(**fields)


def doctor(*flags):
    """What it prints and its exit code."""
    out = io.StringIO()
    try:
        call_command("doctor", *flags, stdout=out)
    except SystemExit as ended:
        return out.getvalue(), ended.code
    return out.getvalue(), 0


def test_it_exits_1_exactly_if_it_prints_an_anomaly():
    """PO-H12, CO-H27: notices are printed and no fault; the command, its JSON and the status say the same."""
    assert doctor() == ("no anomalies\n", 0)
    worker = make_worker(clock_skew_ms=-90_000)
    printed, code = doctor()
    assert (code, printed.splitlines()[0]) == (0, "- clock_skew: the clock of lab is off by 90 s")
    assert anomalies(findings()) == []
    Worker.objects.update(quarantined=2)
    printed, code = doctor()
    assert code == 1
    assert "! quarantine: 2 results on lab were refused\n  mend: manage.py work --list-quarantine on lab" in printed
    assert "no anomalies" not in printed
    document, code = doctor("--json")
    assert (code, [row["code"] for row in json.loads(document)["items"]]) == (1, ["quarantine", "clock_skew"])
    assert [each["code"] for each in anomalies(findings())] == ["quarantine"]
    worker.delete()
    assert doctor() == ("no anomalies\n", 0)


def test_a_control_plane_that_does_not_answer_is_an_anomaly(monkeypatch, settings):
    """PO-S20: control_plane_down"""
    monkeypatch.setattr(address, "control_health", lambda: None)
    printed, code = doctor()
    says = f"control_plane_down: the control plane does not answer at http://127.0.0.1:{settings.FACTORY.port}"
    assert (code, printed) == (1, f"! {says}\n  mend: manage.py serve\n")


@pytest.fixture
def other_shell(settings, monkeypatch):
    """Change to a shell that has none of the settings of serve."""

    def change():
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", "/nonexistent")
        settings.FACTORY = settings.FACTORY.model_copy(update={"github_token": None, "gh_token": None})

    return change


def test_the_forges_token_is_that_of_serve_whatever_shell_asks(other_shell):
    findings_stored()
    other_shell()
    assert doctor() == ("no anomalies\n", 0)
    DoctorReport.objects.update(evaluated_at=now() - timedelta(seconds=61))
    printed, code = doctor()
    assert code == 1
    assert "! forge_unauthorised: no token for github.com" in printed
    assert "(as this shell sees it; serve has not reported)" in printed


def test_a_token_that_serve_lacks_is_told_in_a_shell_that_has_one(settings, other_shell):
    """PO-S20: forge_unauthorised"""
    own = settings.FACTORY
    other_shell()
    findings_stored()
    settings.FACTORY = own
    printed, code = doctor()
    assert code == 1
    assert "! forge_unauthorised: no token for github.com" in printed
    assert "shell" not in printed
    out = io.StringIO()
    call_command("status", "--json", stdout=out)
    assert [each["code"] for each in json.loads(out.getvalue())["anomalies"]] == ["forge_unauthorised"]
    findings_stored()
    assert doctor() == ("no anomalies\n", 0)


def broken(_):
    raise RuntimeError


def test_a_check_that_fails_reports_itself_and_hides_no_other():
    """PO-H12"""
    make_worker(quarantined=2)
    assert {"check_failed", "quarantine"} <= {each.code for each in findings([broken, *every_check()])}


def test_pages_and_clients_are_answered_from_the_last_ten_seconds():
    assert findings_recent() == []
    make_worker(quarantined=2)
    assert findings_recent() == []
    findings_forget()
    assert [each.code for each in findings_recent()] == ["quarantine"]


def test_the_frame_reads_the_last_evaluation_and_runs_no_check():
    findings_stored()
    make_worker(quarantined=2)
    assert DoctorReport.objects.get().anomalies == 0
    findings_stored()
    assert DoctorReport.objects.get().anomalies == 2


@pytest.mark.parametrize(("failures", "often"), [(1, "once"), (4, "4 times")])
def test_a_run_that_failed_for_good_is_told_in_plain_words(failures, often):
    run = queue.enqueue()
    ended = {"state": "failed", "cause": "environment", "reason_code": "adapter_error", "ended_at": now()}
    Run.objects.filter(pk=run.pk).update(**ended, environment_failures=failures, flow_type="")
    [found] = findings()
    assert found.text == f"{run.run_id} failed {often}, the last time with: adapter error"

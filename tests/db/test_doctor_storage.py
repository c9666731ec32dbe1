"""What doctor says of stored things: each row is provoked, names its mend, and goes away after it."""

from datetime import timedelta
from typing import NamedTuple

import pytest

from factory_site.doctor import storage
from factory_site.doctor.report import Level, findings
from factory_site.models import Backup
from runs.clock import now
from runs.models import JournalRow
from runs.queue.journal_check import journal_check_pass
from tests.queue_driver import enqueue, load_definitions

pytestmark = pytest.mark.django_db


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def found(code):
    return next((each for each in findings(storage.CHECKS) if each.code == code), None)


def test_what_the_daily_check_found_is_named_until_the_journal_verifies():
    """PO-S20: journal_fault; RU-S21"""
    load_definitions()
    run = enqueue()
    row = JournalRow.objects.get(run=run, seq=1)
    JournalRow.objects.filter(pk=row.pk).update(actor="operator:mallory")
    assert found("journal_fault") is None, "nobody looked yet"
    journal_check_pass()
    fault = found("journal_fault")
    assert fault.text == f"run {run.run_id} row 1: altered"
    assert fault.mend == f"manage.py verify_journal --run {run.run_id}"
    JournalRow.objects.filter(pk=row.pk).update(actor=row.actor)
    assert found("journal_fault") is None


def test_a_backup_that_is_a_week_old_or_was_never_taken_is_a_notice():
    """PO-S20: backup_old"""
    never = found("backup_old")
    assert (never.level, never.text, never.mend) == (Level.NOTICE, "there is no backup yet", "manage.py backup")
    row = Backup.objects.create(
        taken_at=now() - timedelta(days=7, minutes=1), path="x", size_bytes=1, rows=1, objects_count=0
    )
    assert found("backup_old").text.startswith("the last backup is of ")
    Backup.objects.filter(pk=row.pk).update(taken_at=now() - timedelta(days=6))
    assert found("backup_old") is None


@pytest.mark.parametrize(
    ("total", "free", "low"),
    [
        (10**12, 49 * 10**9, True),
        (10**12, 51 * 10**9, False),
        (10**10, 1_900_000_000, True),
        (10**10, 2_100_000_000, False),
    ],
)
def test_little_room_is_an_anomaly_below_5_percent_or_2_gigabytes(monkeypatch, total, free, low):
    """PO-S20: disk_low"""
    monkeypatch.setattr("factory_site.doctor.storage.shutil.disk_usage", lambda _: Usage(total, total - free, free))
    row = found("disk_low")
    assert (row is not None) == low
    if row:
        assert row.text.endswith(f"has {free / 10**9:.1f} GB left, {free * 100 // total} %")
        assert row.mend.startswith("manage.py prune; free space on ")

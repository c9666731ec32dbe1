"""What doctor says of stored things: each row is provoked, names its mend, and goes away after it."""

import hashlib
import io
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.core.management import call_command

from factory_site.backup.mend import missing_restored
from factory_site.backup.take import backup_taken
from factory_site.doctor import storage
from factory_site.doctor.report import Level, findings
from factory_site.models import Backup
from runs.artifacts.reading import artifact_bytes, artifact_quarantined
from runs.artifacts.store import object_stored
from runs.clock import now
from runs.contract.errors import NotFound
from runs.models import Artifact, Document, JournalRow
from runs.queue.journal_check import journal_check_pass
from tests.queue_driver import enqueue, load_definitions


class Usage(NamedTuple):
    total: int
    used: int
    free: int


TEXT = b"doctor's bytes\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


def found(code):
    return next((each for each in findings(storage.CHECKS) if each.code == code), None)


@pytest.fixture
def lived_in(transactional_db, tmp_path):
    """Rows that are committed, so that a backup sees them, and the backup."""
    assert transactional_db is None
    load_definitions()
    enqueue()
    object_stored(io.BytesIO(TEXT), size=len(TEXT), sha256=SHA256)
    Artifact.objects.create(sha256=SHA256, size_bytes=len(TEXT), media_type="text/plain", stored_at=now())
    path = tmp_path / "one.tar"
    backup_taken(path)
    return path


def test_a_damaged_object_is_listed_until_a_backup_puts_it_back(lived_in):
    """PO-S20: artifact_corrupt; RU-S22"""
    assert found("artifact_corrupt") is None
    artifact_quarantined(SHA256)
    with pytest.raises(NotFound):
        artifact_bytes(SHA256)
    row = found("artifact_corrupt")
    assert (row.count, row.examples) == (1, (SHA256[:12],))
    assert row.mend.startswith("manage.py restore FILE --missing")
    assert missing_restored(lived_in) == (1, 0)
    assert found("artifact_corrupt") is None
    assert b"".join(artifact_bytes(SHA256)) == TEXT
    assert missing_restored(lived_in) == (0, 0)


@pytest.mark.parametrize("kind", ["definition", "schema"])
def test_a_queued_run_whose_document_is_gone_is_named_until_a_backup_puts_it_back(lived_in, kind, capsys):
    """PO-S20: definition_missing"""
    assert found("definition_missing") is None
    Document.objects.filter(kind=kind).delete()
    from runs.definitions import stored

    stored._content.cache_clear()
    row = found("definition_missing")
    assert row.text.startswith("run run_")
    assert row.mend == "manage.py restore FILE --missing"
    call_command("restore", str(lived_in), "--missing")
    assert "documents" in capsys.readouterr().out
    assert found("definition_missing") is None


@pytest.mark.django_db
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


@pytest.mark.django_db
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


@pytest.mark.django_db
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
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: Usage(total, total - free, free))
    row = found("disk_low")
    assert (row is not None) == low
    if row:
        assert row.text.endswith(f"has {free / 10**9:.1f} GB left, {free * 100 // total} %")
        assert row.mend.startswith("manage.py prune; free space on ")

"""What is damaged or missing comes back from a backup alone, while everything else stays as it is."""

import pytest
from django.core.management import call_command

from factory_site.backup.mend import missing_restored
from factory_site.backup.restore import restored
from factory_site.backup.take import backup_taken
from factory_site.doctor import storage
from factory_site.doctor.report import findings
from runs.artifacts.reading import artifact_bytes, artifact_quarantined
from runs.artifacts.store import object_name
from runs.contract.errors import NotFound
from runs.definitions import stored
from runs.models import Document, Run
from tests.db.backup.conftest import SHA256, TEXT
from tests.queue_driver import enqueue


@pytest.fixture
def path(site, tmp_path):
    """A backup of the site."""
    assert site
    path = tmp_path / "one.tar"
    backup_taken(path)
    return path


def found(code):
    return next((each for each in findings(storage.CHECKS) if each.code == code), None)


def test_a_damaged_object_is_listed_until_a_backup_puts_it_back(path):
    """PO-S20: artifact_corrupt; RU-S22"""
    assert found("artifact_corrupt") is None
    artifact_quarantined(SHA256)
    with pytest.raises(NotFound):
        artifact_bytes(SHA256)
    row = found("artifact_corrupt")
    assert (row.count, row.examples) == (1, (SHA256[:12],))
    assert row.mend.startswith("manage.py restore FILE --missing")
    later = enqueue(subject="pull-request:1:6")
    assert missing_restored(path) == (1, 0)
    assert found("artifact_corrupt") is None
    assert b"".join(artifact_bytes(SHA256)) == TEXT
    assert Run.objects.filter(pk=later.pk).exists(), "what happened since stays"
    assert missing_restored(path) == (0, 0)


def test_an_object_whose_file_is_gone_comes_back_before_anybody_missed_it(path, site):
    (site / "artifacts" / object_name(SHA256)).unlink()
    assert missing_restored(path) == (1, 0)
    assert b"".join(artifact_bytes(SHA256)) == TEXT


def test_an_object_whose_bytes_changed_unnoticed_comes_back_whole(path, site):
    stored_file = site / "artifacts" / object_name(SHA256)
    stored_file.write_bytes(TEXT.upper())
    assert missing_restored(path) == (1, 0)
    assert stored_file.read_bytes() == TEXT
    stored_file.write_bytes(TEXT.upper())
    restored(path, replace=True)
    assert stored_file.read_bytes() == TEXT


@pytest.mark.parametrize("kind", ["definition", "schema"])
def test_a_queued_run_whose_document_is_gone_is_named_until_a_backup_puts_it_back(path, kind, capsys):
    """PO-S20: definition_missing"""
    assert found("definition_missing") is None
    Document.objects.filter(kind=kind).delete()
    stored._content.cache_clear()  # as in a process that starts later
    row = found("definition_missing")
    assert row.text.startswith("run run_")
    assert row.mend == "manage.py restore FILE --missing"
    call_command("restore", str(path), "--missing")
    assert "put back 0 stored objects and" in capsys.readouterr().out
    assert found("definition_missing") is None

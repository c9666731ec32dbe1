"""A backup of everything, taken while others write, comes back equal in whatever database it is restored to."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from datetime import timedelta
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError

from factory_site.backup.access import access_lines
from factory_site.backup.archive import MANIFEST, archive_read
from factory_site.backup.folder import file_put_back
from factory_site.backup.restore import KEY_GAP, restored
from factory_site.backup.snapshot import snapshot
from factory_site.backup.tables import kept_models
from factory_site.backup.take import backup_taken
from factory_site.backup.wipe import rows_present
from factory_site.models import Backup
from runs.artifacts.reading import artifact_bytes
from runs.artifacts.store import object_name
from runs.clock import now
from runs.contract.errors import Invalid, NotFound
from runs.models import Artifact, Attempt, Definition, Document, JournalRow, PeriodicTask, Run, TransitionLog, User
from runs.models.user import Role
from runs.people import token_issue
from runs.queue.audit import journal_faults
from tests.db.backup.conftest import SHA256, TEXT, completed_run
from tests.queue_driver import claim, enqueue, load_definitions
from workers.allowances import Allowances
from workers.host.process.only_one import hold_lock
from workers.services.credentials import credential_issue


def everything():
    """Every row of every table that is kept, as values."""
    found = {}
    for model in kept_models(apps):
        rows = [list(row) for row in model._base_manager.order_by("pk").values_list()]
        found[model._meta.label] = [
            [bytes(each) if isinstance(each, memoryview) else each for each in row] for row in rows
        ]
    found.pop("runs.PeriodicTask")
    return found


def back(path, *flags):
    out = StringIO()
    call_command("restore", str(path), *flags, stdout=out)
    return out.getvalue()


def test_what_was_backed_up_comes_back_equal_on_another_machine(site, tmp_path, moved):
    out = StringIO()
    path = tmp_path / "kept" / "one.tar"
    call_command("backup", "--output", str(path), stdout=out)
    assert "It holds secrets" in out.getvalue()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["one.tar"]
    before = everything()
    [noted] = before.pop("factory_site.Backup")
    before_last = Attempt.objects.latest("pk").pk
    with moved() as new:
        home = new.home
        told = back(path)
        assert "every journal verifies" in told
        after = everything()
        assert after.pop("factory_site.Backup")[0][1:] == noted[1:], "the doctor knows of the backup that it came from"
        assert after == before
        assert b"".join(artifact_bytes(SHA256)) == TEXT
        assert (home / "secrets" / "worker-lab.json").stat().st_mode & 0o777 == 0o600
        assert (home / "admin.json").read_bytes() == (site / "admin.json").read_bytes()
        assert not (home / "settings.env").exists()
        assert (home / "settings.env.restored").read_text() == "FACTORY_POLL_SECONDS=7\n"
        assert User.objects.get().check_password(json.loads((home / "admin.json").read_text())["password"])
        assert claim().pk > before_last, "the queue goes on"


@pytest.mark.usefixtures("site")
def test_a_restore_says_who_may_come_in_again_and_what_ends_that(tmp_path):
    """What was revoked after the backup is valid again, and nothing but the person knows it."""
    call_command("tokens", "revoke", "first", stdout=StringIO())
    path = backup_taken(tmp_path / "one.tar").path
    assert "revoked" not in back(path, "--replace")
    credential_issue(node="lab", allowed=Allowances(), life=None, actor="operator:ann")
    token_issue(name="ci", user=User.objects.get(), role=Role.VIEWER, created_by="operator:ann")
    path = backup_taken(tmp_path / "two.tar").path
    call_command("credentials", "revoke", "lab", stdout=StringIO())
    call_command("tokens", "revoke", "ci", stdout=StringIO())
    told = back(path, "--replace")
    assert "also with those revoked since: lab; end one with: manage.py credentials revoke NODE" in told
    assert "also those revoked since: ci; end one with: manage.py tokens revoke NAME" in told
    call_command("credentials", "revoke", "lab", stdout=StringIO())
    call_command("tokens", "revoke", "ci", stdout=StringIO())
    assert list(access_lines()) == []


def test_no_key_that_was_given_out_before_or_after_the_backup_is_given_out_again(site, tmp_path, moved):
    """RU-H3: also when the newest attempt was removed, and when attempts followed the backup."""
    assert site
    last = claim()
    Run.objects.filter(pk=last.run_id).delete()
    path = tmp_path / "one.tar"
    backup_taken(path)
    with moved():
        restored(path, replace=False)
        enqueue(subject="pull-request:1:3")
        assert claim().pk == last.pk + KEY_GAP + 1
        log = TransitionLog.objects.create(
            flow="x", flow_row=1, subject="s", generation=1, to_state="a", edge="e", event="v", actor="poller", at=now()
        )
        assert log.pk > KEY_GAP


def test_a_backup_holds_one_instant_and_nobody_waits_for_it(site, tmp_path):
    assert site
    runs = Run.objects.count()
    with snapshot() as alias:
        assert Run.objects.using(alias).count() == runs
        enqueue(subject="pull-request:1:4")  # commits while the snapshot is open
        assert Run.objects.count() == runs + 1
        assert Run.objects.using(alias).count() == runs
    path = tmp_path / "one.tar"
    backup_taken(path)
    with archive_read(path) as archive:
        assert archive.manifest["rows"]["runs.Run"] == runs + 1


def test_a_database_that_holds_rows_is_replaced_only_when_told(site, tmp_path):
    assert site
    path = tmp_path / "one.tar"
    backup_taken(path)
    later = enqueue(subject="pull-request:1:5")
    with pytest.raises(CommandError, match=r"the database holds .* rows already.*--replace"):
        back(path)
    assert Run.objects.filter(pk=later.pk).exists()
    back(path, "--replace")
    assert not Run.objects.filter(run_id=later.run_id).exists()
    assert list(journal_faults()) == []


@pytest.mark.parametrize("command", [["restore", "x.tar"], ["purge", "--yes"]])
def test_nobody_serves_while_a_database_is_replaced(site, command):
    lock = hold_lock(site / "run", "serve")
    with pytest.raises(CommandError, match="serve already runs on"):
        call_command(*command)
    os.close(lock)
    at = now()
    PeriodicTask.objects.create(name="flows", interval_seconds=1, due_at=at, started_at=at - timedelta(seconds=2))
    with pytest.raises(CommandError, match="a control plane worked on this database 2 s ago"):
        call_command(*command)
    assert Run.objects.exists()


def spoiled(path, name, change):
    """Write the archive anew with one member changed, left out (None), or cut off behind it."""
    aside = path.with_suffix(".spoiled")
    with tarfile.open(path) as old, tarfile.open(aside, "w") as new:
        for member in old:
            file = old.extractfile(member)
            assert file is not None
            content = file.read()
            if member.name == name:
                content = change(content)
                if content is None:
                    continue
            member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    return aside


def newer(content):
    manifest = json.loads(content)
    return json.dumps({**manifest, "migrations": [*manifest["migrations"], ["runs", "9999_later"]]}).encode()


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("tables/runs.Run.jsonl.gz", lambda content: content[:-1] + b"x", "is damaged; nothing was restored"),
        (f"objects/{SHA256}", lambda _: b"other bytes!\n", "is damaged; nothing was restored"),
        ("tables/runs.Run.jsonl.gz", lambda _: None, "is missing; nothing was restored"),
        (MANIFEST, lambda _: None, "is no complete backup"),
        (MANIFEST, lambda _: b'{"schemaVersion": "other/v1"}', "of another form"),
        (MANIFEST, newer, "knows runs.9999_later; nothing was touched"),
    ],
)
def test_a_file_that_is_damaged_or_of_a_later_version_changes_nothing(site, tmp_path, name, change, sentence):
    assert site
    path = tmp_path / "one.tar"
    backup_taken(path)
    before = everything()
    with pytest.raises(Invalid, match=sentence):
        restored(spoiled(path, name, change), replace=True)
    assert everything() == before


@pytest.mark.parametrize("content", [b"", b"just text" * 1000, None])
def test_what_is_no_backup_is_said_in_one_line(site, tmp_path, content):
    assert site
    path = tmp_path / "none.tar"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError) as wrong:
        back(path)
    assert str(path) in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_an_object_that_is_damaged_is_named_put_aside_and_left_out(site, tmp_path):
    """RU-S22"""
    (site / "artifacts" / object_name(SHA256)).write_bytes(b"other")
    out, err = StringIO(), StringIO()
    call_command("backup", "--output", str(tmp_path / "one.tar"), stdout=out, stderr=err)
    assert f"damaged and left out: artifact {SHA256}" in err.getvalue()
    assert Artifact.objects.get().quarantined_at is not None
    with pytest.raises(NotFound):
        artifact_bytes(SHA256)


def test_a_backup_that_breaks_off_leaves_no_file_and_no_note(site, tmp_path, monkeypatch):
    assert site

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("factory_site.backup.take.files_kept", broken)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("backup", "--output", str(tmp_path / "kept" / "one.tar"))
    assert list((tmp_path / "kept").iterdir()) == []
    assert not Backup.objects.exists()


def test_only_the_newest_of_a_folder_are_kept(site):
    folder = site / "backups"
    folder.mkdir()
    for day in (1, 2, 3):
        (folder / f"factory-2026010{day}T000000Z.tar").touch()
    (folder / "other.tar").touch()
    call_command("backup", "--keep", "2", stdout=StringIO())
    names = sorted(path.name for path in folder.iterdir())
    assert names[0] == "factory-20260103T000000Z.tar"
    assert len(names) == 3
    assert names[2] == "other.tar"
    with pytest.raises(CommandError, match="--keep takes 1 or more"):
        call_command("backup", "--keep", "0")


@pytest.mark.parametrize(
    "name", ["../escape", "secrets/../../escape", "run/serve.pid", "/etc/passwd", "secrets/a/../../b"]
)
def test_a_member_never_leads_out_of_the_data_folder(tmp_path, name):
    assert file_put_back(tmp_path, name, io.BytesIO(b"x")) is None
    assert list(tmp_path.iterdir()) == []


def test_a_backup_of_an_older_version_is_brought_up_to_this_one(site, tmp_path, moved):
    """Its tables are made as they were, filled, and then migrated."""
    assert site
    path = tmp_path / "one.tar"
    backup_taken(path)

    def without_last(content):
        manifest = json.loads(content)
        known = (each for each in manifest["migrations"] if each[0] != "factory_site" or each[1] < "0003")
        manifest["migrations"] = list(known)
        manifest["members"][report] = hashlib.sha256(had).hexdigest()
        return json.dumps(manifest).encode()

    report, had = "tables/factory_site.DoctorReport.jsonl.gz", gzip.compress(b'["id"]\n')
    spoiled(path, report, lambda _: had).replace(path)
    old = spoiled(path, MANIFEST, without_last)
    with moved():
        restored(old, replace=False)
        assert Run.objects.count() == 2
        assert Backup.objects.get().path == str(old), "the table that it did not have holds the one that was restored"


def test_a_purge_removes_everything_once_it_is_confirmed(site):
    """Rows, stored objects and the secrets of removed rows go; settings stay."""
    with pytest.raises(CommandError, match=r"this would remove .* rows of .* tables"):
        call_command("purge")
    assert Run.objects.exists()
    out = StringIO()
    call_command("purge", "--yes", stdout=out)
    assert "begin anew" in out.getvalue()
    assert rows_present() == {}
    assert not (site / "artifacts" / object_name(SHA256)).exists()
    assert not (site / "admin.json").exists()
    assert (site / "settings.env").exists()
    load_definitions()
    assert completed_run().run_id
    assert Document.objects.exists()
    assert Definition.objects.exists()
    assert JournalRow.objects.exists()

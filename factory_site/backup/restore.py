"""Restoring a backup: into an empty database, or in place of what a database holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from factory_site.backup.archive import archive_read
from factory_site.backup.folder import file_put_back
from factory_site.backup.snapshot import keys_begin_behind
from factory_site.backup.tables import kept_models, rows_read
from factory_site.backup.take import backup_noted
from factory_site.backup.wipe import database_made, database_wiped, rows_present
from factory_site.config import SETTINGS_FILE
from runs.artifacts.store import object_is_whole, object_put_aside, object_stored
from runs.contract.errors import Invalid, Refused
from runs.contract.instants import parse_instant
from runs.models import PeriodicTask

if TYPE_CHECKING:
    from pathlib import Path

    from factory_site.backup.archive import Reader

# Between the last key of the backup and the first new one. What happened after the backup was taken is forgotten here
# but not outside: a worker may still hold a fencing token, and the forge an answer under the key of a log row.
KEY_GAP = 1_000_000


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, and where the settings of the backup lie, if it had any."""

    taken_at: str
    rows: int
    objects: int
    settings_file: Path | None


def restored(path: Path, *, replace: bool) -> Restored:
    """Put back tables, stored objects and files of the data folder. Nobody may serve meanwhile.

    The whole file is checked first. Raises Invalid (`backup_invalid`, `database_newer`) and Refused (`holds_rows`,
    unless ``replace``), and then nothing was touched. A restore that breaks off leaves an empty database: run it again.
    """
    with archive_read(path) as archive:
        migrations = [(app, name) for app, name in archive.manifest["migrations"]]
        _check_version(migrations, archive.manifest["version"])
        present = rows_present()
        if present and not replace:
            raise Refused(
                "holds_rows",
                f"the database holds {sum(present.values())} rows already, as in {next(iter(present))}; back it up, "
                "then put the backup in its place with: manage.py restore FILE --replace",
            )
        database_wiped()
        rows = _tables(archive, migrations)
        database_made()
        PeriodicTask.objects.update(started_at=None)  # nobody works on this database yet
        objects = archive.names("objects")
        for sha256 in objects:
            if not object_is_whole(sha256):
                object_put_aside(sha256)  # a store keeps what has the right size
            with archive.member(f"objects/{sha256}") as file:
                object_stored(file, size=archive.size(f"objects/{sha256}"), sha256=sha256)
        files = _files(archive)
        backup_noted(path, at=parse_instant(archive.manifest["takenAt"]), rows=rows, objects=len(objects))
        return Restored(archive.manifest["takenAt"], rows, len(objects), files)


def _check_version(migrations: list[tuple[str, str]], version: str) -> None:
    """Refuse a backup of a later version: this one does not know its tables."""
    unknown = sorted(set(migrations) - set(MigrationLoader(None).disk_migrations))
    if unknown:
        app, name = unknown[0]
        raise Invalid(
            "database_newer",
            f"the backup is of version {version}, which knows {app}.{name}; nothing was touched. Install that version",
        )


def _tables(archive: Reader, migrations: list[tuple[str, str]]) -> int:
    """Make the tables as they were when the backup was taken, and fill them in one transaction."""
    models = kept_models(database_made(migrations))
    count = 0
    with transaction.atomic():
        for model in models:
            name = f"tables/{model._meta.label}.jsonl.gz"
            if archive.has(name):
                model._base_manager.all().delete()  # what a migration put there itself
                with archive.member(name) as lines:
                    count += rows_read(model, lines)
        keys_begin_behind(models, archive.manifest["lastKeys"], KEY_GAP)
    connection.close()  # the next migration begins on a connection without pending checks
    return count


def _files(archive: Reader) -> Path | None:
    home = settings.FACTORY.home
    beside: Path | None = None
    for name in archive.names("home"):
        with archive.member(f"home/{name}") as source:
            target = file_put_back(home, name, source)
        beside = target if name == SETTINGS_FILE else beside
    return beside

"""Taking a backup while everything goes on."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from django.apps import apps
from django.conf import settings
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from factory_site import __version__
from factory_site.backup.archive import archive_written
from factory_site.backup.folder import files_kept
from factory_site.backup.snapshot import last_keys, snapshot
from factory_site.backup.tables import kept_models, rows_written
from factory_site.models import Backup
from runs.artifacts.reading import artifact_quarantined
from runs.artifacts.store import object_opened
from runs.clock import now
from runs.contract.instants import format_instant
from runs.models import Artifact

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from factory_site.backup.archive import Writer

PATTERN = "factory-*.tar"


@dataclass(frozen=True, slots=True)
class Taken:
    """What a backup holds; ``damaged``: hashes of objects that were not what they should be."""

    path: Path
    rows: int
    objects: int
    damaged: tuple[str, ...]
    size_bytes: int


def default_path() -> Path:
    """Where a backup lies unless somebody names a place."""
    return settings.FACTORY.home / "backups" / f"factory-{now():%Y%m%dT%H%M%SZ}.tar"


def backup_taken(path: Path, *, objects: bool = True) -> Taken:
    """Write tables as of one instant, stored objects and files of the data folder to one file, complete or absent.

    Nobody who writes waits. ``objects`` False leaves them out, for a store with a backup of its own. Raises OSError.
    """
    at = now()
    manifest: dict[str, Any] = {"takenAt": format_instant(at), "version": __version__}
    with archive_written(path, manifest) as archive:
        with snapshot() as alias:
            kept = kept_models(apps)
            manifest["database"] = connections[alias].vendor
            manifest["migrations"] = sorted(MigrationRecorder(connections[alias]).applied_migrations())
            manifest["rows"] = {model._meta.label: _table(archive, model, alias) for model in kept}
            manifest["lastKeys"] = last_keys(kept, alias)
            wanted = list(_whole_objects(alias)) if objects else []
        damaged = tuple(sha256 for sha256, size in wanted if not _object(archive, sha256, size))
        manifest["objects"] = {"count": len(wanted) - len(damaged), "damaged": damaged, "leftOut": not objects}
        for file in files_kept(settings.FACTORY.home):
            with file.open("rb") as source:
                name = file.relative_to(settings.FACTORY.home).as_posix()
                archive.add(f"home/{name}", source, file.stat().st_size)
    rows, count = sum(manifest["rows"].values()), manifest["objects"]["count"]
    backup_noted(path, at=at, rows=rows, objects=count)
    return Taken(path, rows, count, damaged, path.stat().st_size)


def backup_noted(path: Path, *, at: datetime, rows: int, objects: int) -> None:
    """Keep that this file is a backup as of ``at``: the one that was taken, or the one that was restored."""
    size = path.stat().st_size
    Backup.objects.create(taken_at=at, path=str(path)[:500], size_bytes=size, rows=rows, objects_count=objects)


def older_removed(folder: Path, keep: int) -> list[Path]:
    """Remove the backups of a folder but for the newest ``keep``; their names tell their age."""
    gone = sorted(folder.glob(PATTERN), reverse=True)[keep:]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def _whole_objects(alias: str) -> list[tuple[str, int]]:
    rows = Artifact.objects.using(alias).filter(quarantined_at__isnull=True, leaving_at__isnull=True)
    return list(rows.order_by("pk").values_list("pk", "size_bytes"))


def _table(archive: Writer, model: Any, alias: str) -> int:
    with tempfile.TemporaryFile() as file:
        count = rows_written(model, alias, file)
        _add(archive, f"tables/{model._meta.label}.jsonl.gz", file)
    return count


def _object(archive: Writer, sha256: str, size: int) -> bool:
    """Add one object; False, and it is put aside, when it is not what it should be. One that was removed is no loss."""
    file = object_opened(sha256)
    if file is None:
        if Artifact.objects.filter(pk=sha256, leaving_at__isnull=True).exists():
            artifact_quarantined(sha256)
        return False
    with file:
        archive.add(f"objects/{sha256}", file, size)
    return True


def _add(archive: Writer, name: str, file: IO[bytes]) -> None:
    size = file.tell()
    file.seek(0)
    archive.add(name, file, size)

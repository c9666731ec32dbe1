"""Removing everything: rows, stored objects, and the secrets that belonged to rows."""

from __future__ import annotations

import shutil

from django.conf import settings

from factory_site.backup.wipe import database_made, database_wiped, rows_present
from runs.artifacts.store import QUARANTINE, folder_of, object_removed, store
from runs.models import Artifact

WORTHLESS = ("admin.json", "huey.sqlite3", "secrets/worker-local.json")  # without the rows that they speak of


def purge_sentence() -> str:
    """What a purge would remove."""
    present = rows_present()
    return f"this would remove {sum(present.values())} rows of {len(present)} tables and every stored object"


def everything_purged() -> None:
    """Remove every stored object, drop every table and make empty ones. Nobody may serve meanwhile.

    Settings, policy and definitions of the site stay; backups stay, too.
    """
    for sha256 in Artifact.objects.values_list("pk", flat=True).iterator():
        object_removed(sha256)
    folder = folder_of(store())
    if folder is not None:
        shutil.rmtree(folder / QUARANTINE, ignore_errors=True)
    database_wiped()
    database_made()
    for name in WORTHLESS:
        (settings.FACTORY.home / name).unlink(missing_ok=True)

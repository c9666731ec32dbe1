"""Putting back from a backup only what is missing or damaged, while the system serves."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING

from factory_site.backup.archive import archive_read
from runs.artifacts.store import object_is_whole, object_put_aside, object_stored
from runs.contract.canonical import bytes_hash
from runs.models import Artifact, Document

if TYPE_CHECKING:
    from pathlib import Path

    from factory_site.backup.archive import Reader


def missing_restored(path: Path) -> tuple[int, int]:
    """Put back stored objects that are damaged or gone, and documents that are absent; return how many of each.

    Only what a row of today names, and only bytes of the right hash. Raises Invalid (`backup_invalid`).
    """
    with archive_read(path) as archive:
        return _objects(archive), _documents(archive)


def _objects(archive: Reader) -> int:
    count = 0
    kept = set(archive.names("objects"))
    for row in Artifact.objects.filter(leaving_at__isnull=True).order_by("pk").iterator():
        if row.sha256 not in kept or (row.quarantined_at is None and object_is_whole(row.sha256)):
            continue
        object_put_aside(row.sha256)  # a store keeps what has the right size
        with archive.member(f"objects/{row.sha256}") as file:
            object_stored(file, size=row.size_bytes, sha256=row.sha256)
        Artifact.objects.filter(pk=row.sha256).update(quarantined_at=None)
        count += 1
    return count


def _documents(archive: Reader) -> int:
    present = set(Document.objects.values_list("hash", flat=True))
    count = 0
    with archive.member("tables/runs.Document.jsonl.gz") as packed, gzip.GzipFile(fileobj=packed, mode="rb") as lines:
        columns = json.loads(lines.readline())
        for line in lines:
            row = dict(zip(columns, json.loads(line), strict=True))
            content = base64.b64decode(row["content"])
            if row["hash"] not in present and bytes_hash(content) == row["hash"]:
                Document.objects.create(**{**row, "content": content})
                count += 1
    return count

"""Removing objects that nothing refers to, and files of the store that no row knows.

Order makes it safe beside uploads: the row is marked, the object removed, the row deleted. An upload refuses for a
moment while the mark stands, and otherwise makes the row young again before it reads a byte.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.db.models import Q

from runs.artifacts.references import referred, unreferenced
from runs.artifacts.store import UNFINISHED, folder_of, object_removed, store
from runs.clock import now
from runs.models import Artifact, ArtifactGrant
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

BATCH = 500  # rows of a transaction
HEX_DIGITS = 64  # of a name that is an object's


def objects_unreferenced(before: datetime) -> int:
    """How many objects the next removal takes."""
    return sum(len(batch) for batch in _batches(before))


def objects_remove(before: datetime) -> int:
    """Remove every object that was stored before that and to which nothing refers; return how many went.

    Bounded transactions of at most 500 rows; what an earlier call left half done is finished first. Any number of
    callers at once.
    """
    _finish(list(Artifact.objects.filter(leaving_at__isnull=False).values_list("pk", flat=True)))
    gone = 0
    for batch in _batches(before):
        with write_transaction():
            locked = Artifact.objects.select_for_update().filter(pk__in=batch, leaving_at__isnull=True).order_by("pk")
            found = list(locked.values_list("pk", flat=True))  # whoever begins to refer to one waits, or came before
            leaving = unreferenced(before).filter(pk__in=set(found) - referred(found))
            taken = list(leaving.values_list("pk", flat=True))
            Artifact.objects.filter(pk__in=taken).update(leaving_at=now())
        _finish(taken)
        gone += len(taken)
    return gone


def strays_remove(before: datetime) -> int:
    """Remove files of a folder store that no row knows and that nobody wrote since; return how many went.

    They are left by an upload that ended between its file and its row. A bucket has rules of its own for them.
    """
    folder = folder_of(store())
    if folder is None:
        return 0
    gone = 0
    for files in _shelves(folder):
        old = [path for path in files if _written_before(path, before)]
        names = {path.name for path in old}
        known = set(Artifact.objects.filter(pk__in=names).values_list("pk", flat=True))
        for path in old:
            if path.name not in known and _written_before(path, before):
                path.unlink(missing_ok=True)
                gone += 1
    return gone


def _batches(before: datetime) -> Iterator[list[str]]:
    """Hashes of objects to which nothing refers, by age; those that other apps keep are left out."""
    rows = unreferenced(before).filter(leaving_at__isnull=True).order_by("stored_at", "pk")
    after: tuple[datetime, str] | None = None
    while True:
        page = (
            rows if after is None else rows.filter(Q(stored_at__gt=after[0]) | Q(stored_at=after[0], pk__gt=after[1]))
        )
        found = list(page.values_list("stored_at", "pk")[:BATCH])
        if not found:
            return
        after = found[-1]
        hashes = [sha256 for _, sha256 in found]
        kept = referred(hashes)
        yield [sha256 for sha256 in hashes if sha256 not in kept]


def _finish(marked: list[str]) -> None:
    """Remove the objects of marked rows, then the rows with the grants of attempts that have ended."""
    for sha256 in marked:
        object_removed(sha256)
    for start in range(0, len(marked), BATCH):
        rows = Artifact.objects.filter(pk__in=marked[start : start + BATCH], leaving_at__isnull=False)
        with write_transaction():
            ArtifactGrant.objects.filter(artifact__in=rows).delete()
            rows.delete()


def _shelves(folder: Path) -> Iterator[list[Path]]:
    """The objects of each innermost folder, and what uploads left unfinished there."""
    for shelf in sorted(folder.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]")):
        if shelf.is_dir():
            names = [
                path for path in shelf.iterdir() if path.name.startswith(UNFINISHED) or len(path.name) == HEX_DIGITS
            ]
            yield names


def _written_before(path: Path, before: datetime) -> bool:
    try:
        return path.lstat().st_mtime < min(before.timestamp(), time.time())
    except FileNotFoundError:
        return False

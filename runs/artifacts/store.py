"""The store of objects: content under its SHA-256, written once, hashed again whenever it is read.

It is Django's storage `artifacts`: a folder of this host, a folder that hosts share, or a bucket. Nothing in here knows
a row of the database.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 64 * 1024  # bytes read at a time
QUARANTINE = "quarantine"
UNFINISHED = ".upload-"  # how the name of a file begins while it is written


class Readable(Protocol):
    """A body that is read in pieces."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes, none at the end."""


def store() -> Storage:
    """The storage that holds every object."""
    return storages["artifacts"]


def object_name(sha256: str) -> str:
    """Where an object lies in the store."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def quarantine_name(sha256: str) -> str:
    """Where a damaged object is put aside."""
    return f"{QUARANTINE}/{sha256}"


def folder_of(storage: Storage) -> Path | None:
    """The folder of a storage that is one; None for a bucket."""
    return Path(storage.location) if isinstance(storage, FileSystemStorage) else None


def object_stored(body: Readable, *, size: int, sha256: str) -> bool:
    """Write the body under its hash, unless it is there; whether it was new. Invalid (`digest_mismatch`) if it differs.

    In a folder: a temporary file beside the target, hashed while it streams, synced, renamed. Two writers at once
    write the same bytes. In a bucket: a temporary file of this host, hashed while it streams, then one upload.
    """
    storage, name = store(), object_name(sha256)
    if isinstance(storage, FileSystemStorage):
        return _stored_in_folder(Path(storage.path(name)), body, size=size, sha256=sha256)
    with tempfile.TemporaryFile() as aside:
        _copied(body, aside, size=size, sha256=sha256)
        if storage.exists(name) and storage.size(name) == size:
            return False
        aside.seek(0)
        storage.save(name, File(aside, name=name))
        return True


def object_opened(sha256: str) -> IO[Any] | None:
    """The object, hashed from its first byte to its last and rewound; None when it is absent, a link or damaged."""
    storage, name = store(), object_name(sha256)
    if isinstance(storage, FileSystemStorage) and Path(storage.path(name)).is_symlink():
        return None
    try:
        file = storage.open(name, "rb")
    except FileNotFoundError:
        return None
    digest = hashlib.sha256()
    try:
        for piece in chunks(file):
            digest.update(piece)
        if digest.hexdigest() == sha256:
            file.seek(0)
            return file
    except FileNotFoundError:  # a bucket says so at the first read
        pass
    except BaseException:
        file.close()
        raise
    file.close()
    return None


def object_is_whole(sha256: str) -> bool:
    """Whether the object lies in its place and every byte of it is right."""
    file = object_opened(sha256)
    if file is not None:
        file.close()
    return file is not None


def object_put_aside(sha256: str) -> None:
    """Move what lies in the object's place to the quarantine of the store; nothing happens when nothing lies there."""
    storage, name, aside = store(), object_name(sha256), quarantine_name(sha256)
    if isinstance(storage, FileSystemStorage):
        place, target = Path(storage.path(name)), Path(storage.path(aside))
        if place.is_symlink() or place.exists():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.replace(target)
        return
    if storage.exists(name):
        with storage.open(name, "rb") as file:
            storage.save(aside, file)
        storage.delete(name)


def object_removed(sha256: str) -> None:
    """Remove the object and what is in quarantine of it; removing what is not there is no fault."""
    storage = store()
    for name in (object_name(sha256), quarantine_name(sha256)):
        storage.delete(name)


def chunks(file: IO[Any]) -> Iterator[bytes]:
    """The rest of an open file in pieces."""
    while piece := file.read(CHUNK):
        yield piece


def _stored_in_folder(target: Path, body: Readable, *, size: int, sha256: str) -> bool:
    if target.is_symlink():
        raise Invalid("digest_mismatch", "the place of this object in the store is a link; remove it by hand")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=UNFINISHED, dir=target.parent)
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _copied(body, file, size=size, sha256=sha256)
            file.flush()
            os.fsync(file.fileno())
        if target.exists() and target.stat().st_size == size:
            os.utime(target)  # as young as a new one for the sweep of objects that no row knows
            return False
        aside.replace(target)
        _sync_folder(target.parent)
        return True
    finally:
        aside.unlink(missing_ok=True)


def _copied(body: Readable, target: IO[Any], *, size: int, sha256: str) -> None:
    digest = hashlib.sha256()
    left = size
    while left > 0 and (piece := body.read(min(CHUNK, left))):
        digest.update(piece)
        target.write(piece)
        left -= len(piece)
    if left or digest.hexdigest() != sha256:
        raise Invalid("digest_mismatch", "the bytes received are not those that were announced")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

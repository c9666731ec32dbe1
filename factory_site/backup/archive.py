"""The file of a backup: a tar whose last member, the manifest, names every other one with its hash.

Members: `tables/<label>.jsonl.gz`, `objects/<sha256>`, `home/<path in the data folder>`, `manifest.json`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = "factory.backup/v1"
MANIFEST = "manifest.json"
CHUNK = 1024 * 1024  # bytes


class Writer:
    """An archive that is being written; what was added is in ``hashes`` by name."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.hashes: dict[str, str] = {}

    def add(self, name: str, source: IO[bytes], size: int) -> None:
        """Add ``size`` bytes of the source under a name."""
        reader = _Hashing(source)
        self._tar.addfile(_member(name, size), reader)
        self.hashes[name] = reader.digest.hexdigest()


@contextmanager
def archive_written(path: Path, manifest: dict[str, Any]) -> Iterator[Writer]:
    """Write an archive that is complete or absent, readable by its owner alone; ``manifest`` is written at the end."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.partial")
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file, tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            writer = Writer(tar)
            yield writer
            content = json.dumps({"schemaVersion": SCHEMA, **manifest, "members": writer.hashes}, indent=1).encode()
            tar.addfile(_member(MANIFEST, len(content)), io.BytesIO(content))
            tar.close()
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


class Reader:
    """An archive all of whose members were found to be what its manifest says."""

    def __init__(self, tar: tarfile.TarFile, manifest: dict[str, Any]) -> None:
        self._tar = tar
        self.manifest = manifest

    def names(self, folder: str) -> list[str]:
        """The members below a folder, without its name."""
        start = f"{folder}/"
        return sorted(name.removeprefix(start) for name in self.manifest["members"] if name.startswith(start))

    def has(self, name: str) -> bool:
        """Whether there is a member of this name."""
        return name in self.manifest["members"]

    @contextmanager
    def member(self, name: str) -> Iterator[IO[bytes]]:
        """The bytes of a member."""
        file = self._tar.extractfile(name)
        if file is None:
            raise _unreadable(name)
        with file:
            yield file

    def size(self, name: str) -> int:
        """How many bytes a member has."""
        return self._tar.getmember(name).size


@contextmanager
def archive_read(path: Path) -> Iterator[Reader]:
    """Open a backup once every member was hashed; Invalid (`backup_invalid`) for a file that is none, or is damaged."""
    try:
        with tarfile.open(path, mode="r:") as tar:
            manifest = _manifest(tar, path)
            _check_members(tar, manifest["members"])
            yield Reader(tar, manifest)
    except FileNotFoundError:
        raise Invalid("backup_invalid", f"there is no file {path}; backups lie in the folder backups") from None
    except (tarfile.TarError, OSError) as error:
        raise Invalid("backup_invalid", f"{path} cannot be read as a backup ({error}); take another one") from error


class _Hashing(io.RawIOBase):
    """Hashes what passes."""

    def __init__(self, source: IO[bytes]) -> None:
        super().__init__()
        self._source = source
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Pass on what the source gives."""
        piece = self._source.read(size)
        self.digest.update(piece)
        return piece


def _member(name: str, size: int) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.size = size
    found.mode = 0o600
    return found


def _manifest(tar: tarfile.TarFile, path: Path) -> dict[str, Any]:
    try:
        file = tar.extractfile(MANIFEST)
        manifest: dict[str, Any] = json.load(file) if file else {}
    except (KeyError, ValueError):
        raise Invalid("backup_invalid", f"{path} is no complete backup: it has no manifest; take another one") from None
    if manifest.get("schemaVersion") != SCHEMA:
        raise Invalid("backup_invalid", f"{path} is of another form than {SCHEMA}; use the version that wrote it")
    return manifest


def _check_members(tar: tarfile.TarFile, hashes: dict[str, str]) -> None:
    for name, wanted in hashes.items():
        try:
            file = tar.extractfile(name)
        except KeyError:
            file = None
        if file is None:
            raise _unreadable(name)
        digest = hashlib.sha256()
        while piece := file.read(CHUNK):
            digest.update(piece)
        if digest.hexdigest() != wanted:
            raise Invalid("backup_invalid", f"{name} of the backup is damaged; nothing was restored. Take another one")


def _unreadable(name: str) -> Invalid:
    return Invalid("backup_invalid", f"{name} of the backup is missing; nothing was restored. Take another one")

"""The store of artifacts: content under its hash, written once, hashed again whenever it is read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from runs.clock import now
from runs.contract.errors import Invalid, NotFound
from runs.contract.spec import spec_value
from runs.models import Artifact, ArtifactGrant, Attempt, RunSpec
from runs.queue.attempts.fence import Held, Presented, attempt_may_write, attempt_write
from runs.queue.attempts.heartbeat import FINAL_USAGE, attempt_renewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHUNK = 64 * 1024  # bytes read at a time
QUARANTINE = "quarantine"
SAVED_KINDS = frozenset({"bundle", "patch", "transcript"})  # what a cancelled attempt may still upload


class Readable(Protocol):
    """A body that is read in pieces."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes, none at the end."""


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The stored object; ``created``: its bytes were new to the store."""

    artifact: Artifact
    created: bool


def artifact_upload(
    presented: Presented, *, body: Readable, size: int, sha256: str, media_type: str, kind: str = ""
) -> Uploaded:
    """Store the bytes under their hash and grant them to the attempt. Any number of times.

    ``size`` is the announced length, checked against the spec's limits before a byte is read; ``sha256`` the bare hex
    that is claimed. The fence is checked before reading and again with the grant. Raises what `attempt_write` raises,
    Invalid `artifact_limit`, `too_large`, `digest_mismatch`.
    """
    attempt = attempt_may_write(presented)
    _check_limits(attempt, size=size, sha256=sha256)
    created = object_stored(body, size=size, sha256=sha256)

    def grant(held: Held) -> Uploaded:
        if held.is_cancelled and not _may_save(held, kind):
            raise Invalid("artifact_limit", f"a cancelled attempt uploads only {', '.join(sorted(SAVED_KINDS))}")
        _check_limits(held.attempt, size=size, sha256=sha256)
        artifact, _ = Artifact.objects.get_or_create(
            sha256=sha256, defaults={"size_bytes": size, "media_type": media_type[:120], "stored_at": held.at}
        )
        if created and artifact.quarantined_at is not None:
            artifact.quarantined_at = None  # whole again
            artifact.save(update_fields=["quarantined_at"])
        artifact_grant(held.attempt, artifact)
        if not held.is_cancelled:
            attempt_renewed(held)
            held.attempt.save(update_fields=["heartbeat_due_at"])
        return Uploaded(artifact, created)

    return attempt_write(presented, "upload", grant, cancelled_too=True)


def artifact_grant(attempt: Attempt, artifact: Artifact) -> ArtifactGrant:
    """Let the attempt bind the object; the same grant again is the first one."""
    row, _ = ArtifactGrant.objects.get_or_create(attempt=attempt, artifact=artifact, defaults={"granted_at": now()})
    return row


def artifact_bytes(sha256: str) -> Iterator[bytes]:
    """The object's bytes in pieces, hashed before the first is given. NotFound (`artifact_corrupt`) for damaged ones.

    A damaged object is moved to the quarantine of the store and never served again.
    """
    artifact = Artifact.objects.filter(sha256=sha256).first()
    if artifact is None:
        raise NotFound("unknown_artifact", f"no artifact {sha256} is stored")
    store = _store()
    name = object_name(sha256)
    if artifact.quarantined_at is not None or not store.exists(name) or not _is_whole(store, name, sha256):
        _quarantine(store, artifact)
        raise NotFound("artifact_corrupt", f"the stored artifact {sha256} is damaged and was put aside")
    return _pieces(store.open(name, "rb"))


def object_name(sha256: str) -> str:
    """Where an object lies in the store."""
    return f"{sha256[:2]}/{sha256[2:4]}/{sha256}"


def object_stored(body: Readable, *, size: int, sha256: str) -> bool:
    """Write the body under its hash, unless it is there; whether it was new. Invalid (`digest_mismatch`) if it differs.

    In a folder: a temporary file beside the target, hashed while it streams, synced, renamed. Two writers at once
    write the same bytes.
    """
    store = _store()
    name = object_name(sha256)
    if isinstance(store, FileSystemStorage):
        return _stored_in_folder(Path(store.path(name)), body, size=size, sha256=sha256)
    with tempfile.TemporaryFile() as aside:
        _copied(body, aside, size=size, sha256=sha256)
        if store.exists(name) and store.size(name) == size:
            return False
        aside.seek(0)
        store.save(name, File(aside))
        return True


def _stored_in_folder(target: Path, body: Readable, *, size: int, sha256: str) -> bool:
    if target.is_symlink():
        raise Invalid("digest_mismatch", "the place of this object in the store is a link; remove it by hand")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".upload-", dir=target.parent)
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _copied(body, file, size=size, sha256=sha256)
            file.flush()
            os.fsync(file.fileno())
        if target.exists() and target.stat().st_size == size:
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


def _check_limits(attempt: Attempt, *, size: int, sha256: str) -> None:
    limits = spec_value(RunSpec.objects.get(run=attempt.run_id).document, "artifactLimits")
    if size > limits["bytesEach"]:
        raise Invalid("too_large", f"an artifact has at most {limits['bytesEach']} bytes")
    sizes = dict(ArtifactGrant.objects.filter(attempt=attempt).values_list("artifact_id", "artifact__size_bytes"))
    sizes[sha256] = size
    if len(sizes) > limits["count"] or sum(sizes.values()) > limits["bytesTotal"]:
        raise Invalid(
            "artifact_limit",
            f"an attempt has at most {limits['count']} artifacts of {limits['bytesTotal']} bytes together",
            details={"check": "artifact_limit"},
        )


def _may_save(held: Held, kind: str) -> bool:
    ended = held.attempt.finished_at
    return kind in SAVED_KINDS and ended is not None and held.at < ended + FINAL_USAGE


def _is_whole(store: Storage, name: str, sha256: str) -> bool:
    digest = hashlib.sha256()
    with store.open(name, "rb") as file:
        for piece in _chunks(file):
            digest.update(piece)
    return digest.hexdigest() == sha256


def _quarantine(store: Storage, artifact: Artifact) -> None:
    if artifact.quarantined_at is None:
        Artifact.objects.filter(pk=artifact.pk).update(quarantined_at=now())
    name = object_name(artifact.sha256)
    if not store.exists(name):
        return
    if isinstance(store, FileSystemStorage):
        aside = Path(store.path(f"{QUARANTINE}/{artifact.sha256}"))
        aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        Path(store.path(name)).replace(aside)
        return
    with store.open(name, "rb") as file:
        store.save(f"{QUARANTINE}/{artifact.sha256}", file)
    store.delete(name)


def _pieces(file: IO[Any]) -> Iterator[bytes]:
    with file:
        yield from _chunks(file)


def _chunks(file: IO[Any]) -> Iterable[bytes]:
    while piece := file.read(CHUNK):
        yield piece


def _store() -> Storage:
    return storages["artifacts"]

"""Reading artifacts: their bytes, proven once more, and what belongs to a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  # the API's schema is made from the annotations
from typing import TYPE_CHECKING

from runs.artifacts.store import chunks, object_opened, object_put_aside
from runs.clock import now
from runs.contract.errors import NotFound
from runs.models import Artifact, ArtifactGrant, ResultArtifact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any

    from runs.models import Run

FOR_OPERATORS = "bundle"  # whole history of a repository


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """One object of an attempt: bound by its result (``bound``), or only uploaded by it."""

    sha256: str
    kind: str
    name: str
    media_type: str
    size_bytes: int
    attempt: int
    bound: bool
    damaged: bool
    stored_at: datetime


def artifact_bytes(sha256: str) -> Iterator[bytes]:
    """The object's bytes in pieces, hashed before the first is given. NotFound (`artifact_corrupt`) for damaged ones.

    A damaged object is moved to the quarantine of the store and never served again.
    """
    artifact = Artifact.objects.filter(sha256=sha256).first()
    if artifact is None:
        raise NotFound("unknown_artifact", f"no artifact {sha256} is stored")
    file = None if artifact.quarantined_at else object_opened(sha256)
    if file is None:
        artifact_quarantined(sha256)
        raise NotFound("artifact_corrupt", f"the stored artifact {sha256} is damaged and was put aside")
    return _pieces(file)


def artifact_quarantined(sha256: str) -> None:
    """Note that the object is damaged, and put aside what lies in its place; once is enough."""
    if Artifact.objects.filter(sha256=sha256, quarantined_at__isnull=True).update(quarantined_at=now()):
        object_put_aside(sha256)


def needs_operator(sha256: str) -> bool:
    """Whether only operators may read the object: an attempt bound it, or only uploaded it, as a bundle."""
    called = {"artifact": sha256, "kind": FOR_OPERATORS}
    return ResultArtifact.objects.filter(**called).exists() or ArtifactGrant.objects.filter(**called).exists()


def artifacts_of_run(run: Run) -> list[StoredArtifact]:
    """Every object of the run's attempts, the newest attempt first; two queries whatever their number."""
    bindings = ResultArtifact.objects.filter(attempt__run=run).select_related("artifact", "attempt")
    found = [
        _stored(each.artifact, each.attempt.number, kind=each.kind, name=each.name, bound=True)
        for each in bindings.order_by("-attempt", "kind", "name")
    ]
    bound = {(each.attempt, each.sha256) for each in found}
    grants = ArtifactGrant.objects.filter(attempt__run=run).select_related("artifact", "attempt")
    found += [
        _stored(each.artifact, each.attempt.number, kind=each.kind, name="", bound=False)
        for each in grants.order_by("-attempt", "pk")
        if (each.attempt.number, each.artifact_id) not in bound
    ]
    return sorted(found, key=lambda each: -each.attempt)


def _stored(artifact: Artifact, attempt: int, *, kind: str, name: str, bound: bool) -> StoredArtifact:
    return StoredArtifact(
        sha256=artifact.sha256,
        kind=kind,
        name=name,
        media_type=artifact.media_type,
        size_bytes=artifact.size_bytes,
        attempt=attempt,
        bound=bound,
        damaged=artifact.quarantined_at is not None,
        stored_at=artifact.stored_at,
    )


def _pieces(file: IO[Any]) -> Iterator[bytes]:
    with file:
        yield from chunks(file)

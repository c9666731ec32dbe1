"""What keeps an object: the rows of this app, and those that other apps register."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from runs.models import Artifact, ArtifactGrant, ResultArtifact, RunInput

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

Referring = Callable[[Collection[str]], Collection[str]]
_registered: dict[str, Referring] = {}


def register_references(name: str, referring: Referring) -> None:
    """Have rows of an app keep objects: ``referring(hashes)`` gives those of the bare hex hashes that it refers to.

    It is asked for at most 500 at a time, inside the transaction that decides, so it reads by an index.
    """
    _registered[name] = referring


def forget_references(name: str) -> None:
    """Take a registration back."""
    _registered.pop(name, None)


def unreferenced(stored_before: datetime) -> QuerySet[Artifact]:
    """Objects older than that to which no row of this app refers; rows of other apps are asked by `referred`.

    What refers: a result or a failed attempt that names it, the specification of a run that declares it as an input,
    and the grant of an attempt that has not ended. Receipts cite only what a result names.
    """
    own = {"artifact": OuterRef("pk")}
    return Artifact.objects.filter(
        ~Exists(ResultArtifact.objects.filter(**own)),
        ~Exists(RunInput.objects.filter(**own)),
        ~Exists(ArtifactGrant.objects.filter(**own, attempt__finished_at__isnull=True)),
        stored_at__lt=stored_before,
    )


def referred(hashes: Collection[str]) -> set[str]:
    """Those of the hashes that a row of another app keeps."""
    found: set[str] = set()
    for referring in _registered.values():
        found |= set(referring(hashes))
    return found

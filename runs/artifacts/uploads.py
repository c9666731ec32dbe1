"""Uploads: the bytes of an attempt, stored under their hash and granted to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from runs.artifacts.store import object_stored
from runs.clock import now
from runs.contract.errors import Invalid, Refused, Transient
from runs.contract.spec import spec_value
from runs.models import Artifact, ArtifactGrant, Attempt, RunSpec
from runs.queue.attempts.fence import Held, Presented, attempt_may_write, attempt_write
from runs.queue.attempts.heartbeat import FINAL_USAGE, attempt_renewed

if TYPE_CHECKING:
    from datetime import datetime

    from runs.artifacts.store import Readable

SAVED_KINDS = frozenset({"bundle", "patch", "transcript"})  # what a cancelled attempt may still upload
FRESH = timedelta(hours=12)  # an object as young as this is far from the removal of unreferenced ones
LEAVES_WITHIN = 1.0  # seconds that the removal of an object takes at most, but for an accident


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
    Invalid `artifact_limit`, `too_large`, `digest_mismatch`, Transient while an object of that hash is being removed.
    """
    attempt = attempt_may_write(presented, "upload")
    _check_may_save(attempt, kind, now())
    _check_limits(attempt, size=size, sha256=sha256)
    _keep(sha256)
    created = object_stored(body, size=size, sha256=sha256)

    def grant(held: Held) -> Uploaded:
        _check_may_save(held.attempt, kind, held.at)
        _check_limits(held.attempt, size=size, sha256=sha256)
        artifact, _ = Artifact.objects.get_or_create(
            sha256=sha256, defaults={"size_bytes": size, "media_type": media_type[:120], "stored_at": held.at}
        )
        if created and artifact.quarantined_at is not None:
            artifact.quarantined_at = None  # whole again
            artifact.save(update_fields=["quarantined_at"])
        artifact_grant(held.attempt, artifact, kind=kind)
        if not held.is_cancelled:
            attempt_renewed(held)
            held.attempt.save(update_fields=["heartbeat_due_at"])
        return Uploaded(artifact, created)

    return attempt_write(presented, "upload", grant, cancelled_too=True)


def artifact_grant(attempt: Attempt, artifact: Artifact, *, kind: str = "") -> ArtifactGrant:
    """Let the attempt bind the object; the same grant again is the first one."""
    row, _ = ArtifactGrant.objects.get_or_create(
        attempt=attempt, artifact=artifact, defaults={"granted_at": now(), "kind": kind[:40]}
    )
    return row


def _keep(sha256: str) -> None:
    """Make an object that is stored already as young as a new one, so that nothing removes it while the bytes arrive.

    Its removal first marks the row and deletes the row last: no row means that no removal is under way.
    """
    at = now()
    aging = Artifact.objects.filter(Q(stored_at__lt=at - FRESH) | Q(leaving_at__isnull=False), sha256=sha256)
    if aging.filter(leaving_at__isnull=True).update(stored_at=at) or not aging.exists():
        return
    raise Transient("unavailable", "an old object of this hash is being removed", retry_after=LEAVES_WITHIN)


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


def _check_may_save(attempt: Attempt, kind: str, at: datetime) -> None:
    """Pass an attempt that goes on, and what saves the work of one that a cancel ended a moment ago."""
    ended = attempt.finished_at
    if ended is None or (kind in SAVED_KINDS and at < ended + FINAL_USAGE):
        return
    saved = ", ".join(sorted(SAVED_KINDS))
    raise Refused("attempt_terminal", f"a cancelled attempt uploads only {saved}, for {FINAL_USAGE.seconds // 60} min")

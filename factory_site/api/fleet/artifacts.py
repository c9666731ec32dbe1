"""Stored objects: those of a run as a list, and the bytes of one, hashed again on the way out."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from factory_site.api.auth import needs
from factory_site.api.errors import responses
from factory_site.api.lists import conditional
from factory_site.api.shapes import Wire, wire_schema
from runs.artifacts.reading import StoredArtifact, artifact_bytes, artifacts_of_run, needs_operator
from runs.contract.errors import NotFound
from runs.models import Artifact, ResultArtifact, Role
from runs.reading.detail import run_find

router = Router()
listing = Router(by_alias=True)
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
Item = wire_schema(StoredArtifact)


class Listed(Wire):
    """The objects of one run; never more than its attempts may store, so there is one page."""

    items: list[Item]  # type: ignore[valid-type]  # a class that is made here
    next_before: None


class OfRun(Schema):
    """Whose objects."""

    run: str = Field(..., max_length=30)


@listing.get("", response=responses({200: Listed}, 304, 404))
def artifact_list(request: HttpRequest, filters: Query[OfRun]) -> HttpResponse:
    """What the attempts of a run stored, the newest attempt first; bound by a result, or only uploaded."""
    found = artifacts_of_run(run_find(filters.run))
    items = [
        {
            "sha256": each.sha256,
            "kind": each.kind,
            "name": each.name,
            "mediaType": each.media_type,
            "sizeBytes": each.size_bytes,
            "attempt": each.attempt,
            "bound": each.bound,
            "damaged": each.damaged,
            "storedAt": each.stored_at,
        }
        for each in found
    ]
    return conditional(request, {"items": items, "nextBefore": None})


@router.get("/{sha256}", response=responses({200: bytes}, 403, 404))
def artifact_show(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """The bytes as an attachment that no browser runs; a bundle needs the role operator."""
    if not SHA256.fullmatch(sha256):
        raise NotFound("unknown_artifact", "An artifact is named by the 64 hex digits of its SHA-256.")
    if needs_operator(sha256):
        needs(request, Role.OPERATOR, "Reading a bundle")
    pieces = artifact_bytes(sha256)
    artifact = Artifact.objects.get(sha256=sha256)
    named = (
        ResultArtifact.objects.filter(artifact=sha256).order_by("-id").values_list("name", flat=True).first() or sha256
    )
    answer = StreamingHttpResponse(pieces, content_type="application/octet-stream")
    answer["Content-Length"] = str(artifact.size_bytes)
    answer["Content-Disposition"] = f'attachment; filename="{_plain(named)}"'
    answer["Content-Security-Policy"] = "sandbox"
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "private, no-cache"
    return answer


def _plain(name: str) -> str:
    """The last part of a name, in characters that a header may hold."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name.rsplit("/", 1)[-1])[:100] or "artifact"

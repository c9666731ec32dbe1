"""GET /artifacts/{sha256}: the bytes of a stored object, hashed again on the way out."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from ninja import Router

from factory_site.api.auth import needs
from factory_site.api.errors import responses
from runs.artifacts import artifact_bytes
from runs.contract.errors import NotFound
from runs.models import Artifact, ResultArtifact, Role

router = Router()
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
FOR_OPERATORS = "bundle"  # whole history of a repository


@router.get("/{sha256}", response=responses({200: bytes}, 403, 404))
def artifact_show(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """The bytes as an attachment that no browser runs; a bundle needs the role operator."""
    if not SHA256.fullmatch(sha256):
        raise NotFound("unknown_artifact", "An artifact is named by the 64 hex digits of its SHA-256.")
    bindings = ResultArtifact.objects.filter(artifact=sha256)
    if bindings.filter(kind=FOR_OPERATORS).exists():
        needs(request, Role.OPERATOR, "Reading a bundle")
    pieces = artifact_bytes(sha256)
    artifact = Artifact.objects.get(sha256=sha256)
    named = bindings.order_by("-id").values_list("name", flat=True).first() or sha256
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

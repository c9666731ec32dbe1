"""Storing the bytes of an artifact and granting them to the attempt that sent them."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from runs.artifacts.uploads import artifact_upload
from runs.contract.canonical import HASH_PREFIX
from runs.contract.errors import Invalid
from runs.contract.numbers import whole_number
from runs.queue.attempts.fence import Presented
from workers.wire import limits
from workers.wire.answers import answer
from workers.wire.endpoint import endpoint

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller

ALGORITHM = "sha-256"
DIGEST_BYTES = 32
UNKNOWN_TYPE = "application/octet-stream"


@endpoint("POST")
def upload(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    """Store bytes under their hash and grant them to the attempt: 201 for a new object, 200 for a known one."""
    with limits.uploads.one(caller.token.credential_id):
        size = _length(request)
        presented = _presented(request, caller)
        stored = artifact_upload(
            presented,
            body=request,
            size=size,
            sha256=_claimed_hash(request),
            media_type=request.content_type or UNKNOWN_TYPE,
            kind=request.headers.get("X-Artifact-Kind", ""),
        )
    body = {
        "sizeBytes": stored.artifact.size_bytes,
        "mediaType": stored.artifact.media_type,
        "sha256": HASH_PREFIX + stored.artifact.sha256,
    }
    return answer(body, status=201 if stored.created else 200)


def _length(request: HttpRequest) -> int:
    text = request.headers.get("Content-Length", "")
    length = whole_number(text)
    if length is None or request.headers.get("Transfer-Encoding"):
        raise Invalid("length_required", "an upload states its Content-Length and is not chunked")
    return length


def _presented(request: HttpRequest, caller: Caller) -> Presented:
    attempt = whole_number(request.headers.get("X-Attempt", ""))
    run_id, token = request.headers.get("X-Run-Id", ""), request.headers.get("X-Fencing-Token", "")
    if not run_id or attempt is None or whole_number(token) is None:
        raise Invalid("malformed", "an upload states X-Run-Id, X-Attempt and X-Fencing-Token")
    return Presented(run_id, attempt, token, caller.worker_id, caller.node)


def _claimed_hash(request: HttpRequest) -> str:
    """The bare hex of the header ``Digest: sha-256=<base64>``."""
    for part in request.headers.get("Digest", "").split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() != ALGORITHM:
            continue
        try:
            digest = base64.b64decode(value, validate=True)
        except binascii.Error:
            break
        if len(digest) == DIGEST_BYTES:
            return digest.hex()
    raise Invalid("malformed", "the header Digest has to be sha-256= and 44 characters of base64")

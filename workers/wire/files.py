"""Documents and input artifacts, by hash, for nodes whose attempts refer to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse, StreamingHttpResponse

from runs.artifacts.reading import artifact_bytes
from runs.contract.errors import NotFound
from runs.contract.numbers import whole_number
from runs.models import Artifact, DocumentKind
from runs.queue.documents import document_for, input_artifact_allowed
from workers.wire.endpoint import endpoint

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller

JSON_KINDS = (DocumentKind.DEFINITION, DocumentKind.SCHEMA)


@endpoint("GET")
def document(request: HttpRequest, caller: Caller, hex_digits: str) -> HttpResponseBase:
    """The bytes of a definition, prompt, schema or harness file."""
    del request
    found = document_for(caller.node, hex_digits)
    media_type = "application/json" if found.kind in JSON_KINDS else "text/plain; charset=utf-8"
    return HttpResponse(bytes(found.content), content_type=media_type, headers={"ETag": f'"{hex_digits}"'})


@endpoint("GET")
def artifact(request: HttpRequest, caller: Caller, hex_digits: str) -> HttpResponseBase:
    """The bytes of an artifact that the attempt's spec declares as an input, hashed before the first one is sent."""
    run_id, number = request.GET.get("runId", ""), whole_number(request.GET.get("attempt", ""))
    allowed = number is not None and input_artifact_allowed(
        caller.node, hex_digits, run_id=run_id, attempt_number=number
    )
    found = Artifact.objects.filter(sha256=hex_digits).first() if allowed else None
    if found is None:
        raise NotFound("not_found", f"no attempt of node {caller.node} declares this artifact as an input")
    headers = {"ETag": f'"{hex_digits}"', "Content-Length": str(found.size_bytes)}
    return StreamingHttpResponse(artifact_bytes(hex_digits), content_type=found.media_type, headers=headers)

"""POST /hooks/github."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from runs.contract.canonical import parse_strict
from runs.contract.errors import Invalid
from runs.intake.deliveries import delivery_admit
from runs.intake.signature import signature_check

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 25 * 1024 * 1024  # GitHub's own cap of a payload
STATUS = {
    "body_too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "missing_secret": HTTPStatus.UNAUTHORIZED,
    "missing_signature": HTTPStatus.UNAUTHORIZED,
    "bad_signature": HTTPStatus.UNAUTHORIZED,
}


@csrf_exempt
@require_POST
def github_hook(request: HttpRequest) -> JsonResponse:
    """Admit one delivery: 200 with what became of it; a wrong one is refused before anything is parsed or written."""
    try:
        body = _body(request)
        signature_check(body, request.headers.get("X-Hub-Signature-256"), settings.FACTORY.webhook_secrets)
        delivery_id = _header(request, "X-GitHub-Delivery", "missing_delivery_id", most=100)
        kind = _header(request, "X-GitHub-Event", "missing_event_kind", most=64)
        payload = _payload(request, body)
    except Invalid as error:
        status = STATUS.get(error.code, HTTPStatus.BAD_REQUEST)
        detail = {"code": error.code, "message": error.message, "retryable": False}
        return JsonResponse({"error": detail}, status=status)
    admission = delivery_admit(source="github", delivery_id=delivery_id, kind=kind, payload=payload, body=body)
    answer: dict[str, Any] = {
        "admitted": admission.admitted,
        "duplicate": admission.duplicate,
        "woken": admission.woken,
    }
    if admission.ignored:
        answer["ignored"] = admission.ignored
    return JsonResponse(answer)


def _body(request: HttpRequest) -> bytes:
    """Read the raw body up to the limit, declared or read."""
    try:
        declared = int(request.headers.get("Content-Length") or 0)
    except ValueError:
        declared = 0
    if declared > MOST_BYTES:
        raise Invalid("body_too_large", "A delivery holds at most 25 MiB.")
    try:
        body = request.read(MOST_BYTES + 1)
    except RequestDataTooBig:
        raise Invalid("body_too_large", "A delivery holds at most 25 MiB.") from None
    if len(body) > MOST_BYTES:
        raise Invalid("body_too_large", "A delivery holds at most 25 MiB.")
    return body


def _header(request: HttpRequest, name: str, code: str, *, most: int) -> str:
    """The header's text; ``most`` is the length of its column."""
    value = request.headers.get(name, "").strip()
    if not value:
        raise Invalid(code, f"The header {name} is missing.")
    if len(value) > most:
        raise Invalid(code, f"The header {name} is longer than {most} characters.")
    return value


def _payload(request: HttpRequest, body: bytes) -> Mapping[str, Any]:
    """Parse a JSON object, also where the forge was told to send a form."""
    if request.content_type == "application/x-www-form-urlencoded":
        raise Invalid("malformed_json", "Set the webhook's content type to application/json.")
    try:
        payload = parse_strict(body)
    except Invalid:
        raise Invalid("malformed_json", "The body is no JSON object.") from None
    if not isinstance(payload, dict):
        raise Invalid("malformed_json", "The body is no JSON object.")
    return payload

"""Answers of the worker protocol: JSON with ``schemaVersion``, and the one mapping of errors to HTTP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from django.http import JsonResponse

from runs.clock import now
from runs.contract.codes import WIRE_ERRORS
from runs.contract.errors import FactoryError, Transient
from runs.contract.instants import format_instant
from runs.contract.wire import API_VERSION, error_body

if TYPE_CHECKING:
    from collections.abc import Mapping

RETRYABLE_STATUSES = (429, 503)
DEFAULT_RETRY_SECONDS = 1  # `Retry-After` is always present on 429 and 503

# What services of the kernel call a fault, where the protocol has another word for it.
TRANSLATED = {
    "invalid_json": "malformed",
    "invalid_instant": "malformed",
    "not_canonical": "malformed",
    "artifact_corrupt": "not_found",
    "unknown_artifact": "not_found",
}


def answer(body: Mapping[str, Any], *, status: int = 200) -> JsonResponse:
    """A successful answer with the protocol's version and the server's time, unless the body has its own."""
    return JsonResponse(
        {"schemaVersion": API_VERSION, "serverTime": format_instant(now()), **body},
        status=status,
        json_dumps_params={"ensure_ascii": False},
    )


def error_answer(error: FactoryError) -> JsonResponse:
    """The answer of an error by its code; a code that the protocol does not list is a bug and raised on."""
    code = TRANSLATED.get(error.code, error.code)
    known = WIRE_ERRORS.get(code)
    if known is None:
        raise error
    retryable = known.http in RETRYABLE_STATUSES
    response = JsonResponse(
        error_body(code, error.message, retryable=retryable, details=error.details),
        status=known.http,
        json_dumps_params={"ensure_ascii": False},
    )
    if retryable:
        seconds = error.retry_after if isinstance(error, Transient) else DEFAULT_RETRY_SECONDS
        response["Retry-After"] = str(max(1, math.ceil(seconds)))
    if known.http == 401:  # noqa: PLR2004 -- the status that asks for a credential names the scheme
        response["WWW-Authenticate"] = 'Bearer realm="factory worker"'
    return response

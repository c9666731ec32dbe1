"""The one error shape of the API, and which HTTP status each code has."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import DataError, OperationalError
from django.http import Http404, JsonResponse, RawPostDataException, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from ninja import Schema
from ninja.errors import AuthenticationError, AuthorizationError, HttpError, ValidationError

from runs.contract.errors import FactoryError, Invalid, NotFound, Permanent, Refused, Transient

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from ninja import NinjaAPI

S = HTTPStatus
CODES = {
    "role_required": S.FORBIDDEN,
    "csrf_failed": S.FORBIDDEN,
    "unauthenticated": S.UNAUTHORIZED,
    "rate_limited": S.TOO_MANY_REQUESTS,
    "body_too_large": S.REQUEST_ENTITY_TOO_LARGE,
    "too_large": S.UNPROCESSABLE_ENTITY,
    "pull_request_closed": S.BAD_REQUEST,
    "unknown_definition": S.BAD_REQUEST,
}
PROGRAMS = ("/api/", "/hooks/", "/worker/", "/artifacts/", "/metrics", "/health")  # addresses that are never pages
DATABASE_RETRY_SECONDS = 1
FORGE_RETRY_SECONDS = 60  # of what the forge refused for good: only a person mends it
UNAUTHENTICATED = "Sign in, or send an API token: Authorization: Bearer <token>."
CSRF_SENTENCE = "The CSRF token is missing or wrong. Send it in the header X-CSRFToken, or load the page again."


class ErrorDetail(Schema):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str
    retryable: bool
    details: dict[str, Any] | None = None


class ErrorBody(Schema):
    """The body of every answer that is no success."""

    error: ErrorDetail


def responses(success: dict[int, Any], *codes: int) -> dict[int, Any]:
    """Declare a route's answers: its successes, the given error statuses, and 400, 401 and 503, which each can give."""
    return {**success, **dict.fromkeys(sorted({400, 401, 503, *codes}), ErrorBody)}


def error_answer(
    status: HTTPStatus,
    code: str,
    message: str,
    *,
    retryable: bool = False,
    details: dict[str, Any] | None = None,
    retry_after: float | None = None,
) -> JsonResponse:
    """One error in the API's shape."""
    detail: dict[str, Any] = {"code": code, "message": message, "retryable": retryable}
    if details:
        detail["details"] = details
    answer = JsonResponse({"error": detail}, status=status)
    if retry_after is not None:
        answer["Retry-After"] = str(max(1, round(retry_after)))
    return answer


@csrf_exempt
def unknown_path(request: HttpRequest) -> JsonResponse:
    """404 in the API's shape, for an address of programs that nothing serves."""
    return error_answer(S.NOT_FOUND, "not_found", f"There is no {request.path}. The API is listed at /api/docs.")


def status_of(error: FactoryError) -> HTTPStatus:
    """The HTTP status of an error: by its code where that says more, else by its kind."""
    if error.code in CODES:
        return CODES[error.code]
    if isinstance(error, Invalid):
        return S.BAD_REQUEST
    if isinstance(error, NotFound):
        return S.NOT_FOUND
    if isinstance(error, Refused):
        return S.CONFLICT
    return S.SERVICE_UNAVAILABLE


def factory_error_answer(error: FactoryError) -> JsonResponse:
    """The answer of an error of the tree. What the forge refused for good is unavailable to the caller, too."""
    status = status_of(error)
    retry_after = error.retry_after if isinstance(error, Transient) else None
    if isinstance(error, Permanent):
        retry_after = FORGE_RETRY_SECONDS
    return error_answer(
        status,
        error.code,
        error.message,
        retryable=error.retryable or bool(error.details.get("retryable")),
        details={name: value for name, value in error.details.items() if name != "retryable"},
        retry_after=retry_after,
    )


def _refused_by_tree(request: HttpRequest, error: FactoryError) -> JsonResponse:
    del request
    return factory_error_answer(error)


def _unauthenticated(request: HttpRequest, error: AuthenticationError) -> JsonResponse:
    del request, error
    return error_answer(S.UNAUTHORIZED, "unauthenticated", UNAUTHENTICATED)


def _csrf_failed(request: HttpRequest, error: AuthorizationError) -> JsonResponse:
    del request, error
    return error_answer(S.FORBIDDEN, "csrf_failed", CSRF_SENTENCE)


def _invalid(request: HttpRequest, error: ValidationError) -> JsonResponse:
    del request
    first = error.errors[0]
    # loc is (source, parameter, field, …); a body's own name says nothing to its sender.
    path = [str(part) for part in first["loc"][1:] if part not in {"body", "filters"}]
    field = ".".join(path) or str(first["loc"][0])
    return error_answer(S.BAD_REQUEST, "invalid_field", f"{field}: {first['msg']}.", details={"field": field})


def _http_error(request: HttpRequest, error: HttpError) -> JsonResponse:
    del request
    if isinstance(error.__cause__, FactoryError):  # what our parser of bodies refused
        return factory_error_answer(error.__cause__)
    if error.status_code == S.BAD_REQUEST:
        return error_answer(S.BAD_REQUEST, "malformed_json", "The body is no JSON.")
    return error_answer(HTTPStatus(error.status_code), "csrf_failed", CSRF_SENTENCE)


def _missing(request: HttpRequest, error: Http404) -> JsonResponse:
    del error
    return unknown_path(request)


def _database_busy(request: HttpRequest, error: OperationalError) -> JsonResponse:
    del request, error
    return error_answer(
        S.SERVICE_UNAVAILABLE,
        "unavailable",
        "The database is busy. Nothing was changed; try again.",
        retryable=True,
        retry_after=DATABASE_RETRY_SECONDS,
    )


def _too_big(request: HttpRequest, error: RequestDataTooBig) -> JsonResponse:
    del request, error
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    message = f"The body is larger than {most} bytes."
    return error_answer(S.REQUEST_ENTITY_TOO_LARGE, "body_too_large", message, details={"maxBytes": most})


def _does_not_fit(request: HttpRequest, error: Exception) -> JsonResponse:
    del request, error
    message = "A value is longer or larger than its place."
    return error_answer(S.BAD_REQUEST, "invalid_field", message, details={"field": "body"})


def _unreadable(request: HttpRequest, error: Exception) -> JsonResponse:
    """A form with files, which was read for its CSRF token, or a connection that ended early."""
    del request, error
    return error_answer(S.BAD_REQUEST, "malformed_json", "The body cannot be read; send JSON, not a form.")


HANDLERS: dict[type[Exception], Callable[..., JsonResponse]] = {
    FactoryError: _refused_by_tree,
    AuthenticationError: _unauthenticated,
    AuthorizationError: _csrf_failed,
    ValidationError: _invalid,
    HttpError: _http_error,
    Http404: _missing,
    OperationalError: _database_busy,
    RequestDataTooBig: _too_big,
    RawPostDataException: _unreadable,
    UnreadablePostError: _unreadable,
    DataError: _does_not_fit,
    OverflowError: _does_not_fit,
}


def register_handlers(api: NinjaAPI) -> None:
    """Give every exception that a route may raise its answer."""
    for kind, answer in HANDLERS.items():
        api.add_exception_handler(kind, answer)

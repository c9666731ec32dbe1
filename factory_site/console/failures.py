"""The pages of last resort: unknown address, not permitted, and a fault of the server."""

from __future__ import annotations

import logging
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse
from django.template.loader import render_to_string

from factory_site.api.errors import CSRF_SENTENCE, PROGRAMS, error_answer

if TYPE_CHECKING:
    from django.http import HttpRequest

_log = logging.getLogger(__name__)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: a page for people, the error shape of the API for programs."""
    del exception
    if request.path.startswith(PROGRAMS):
        return error_answer(HTTPStatus.NOT_FOUND, "not_found", f"There is nothing at {request.path}.")
    return _page("404.html", HTTPStatus.NOT_FOUND, path=request.path)


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: a request that no page could read, such as one for another host or with too large a form."""
    if isinstance(exception, RequestDataTooBig):
        return _page("400.html", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason="The form is too large.")
    if request.path.startswith(PROGRAMS):
        return error_answer(HTTPStatus.BAD_REQUEST, "invalid_field", "The request cannot be read.")
    return _page("400.html", HTTPStatus.BAD_REQUEST, reason="Its host, or what it holds, is not one of this server's.")


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """403, also for a form without a valid CSRF token."""
    del exception, reason
    if request.path.startswith(PROGRAMS):
        return error_answer(HTTPStatus.FORBIDDEN, "csrf_failed", CSRF_SENTENCE)
    return _page("403.html", HTTPStatus.FORBIDDEN)


def fault(request: HttpRequest) -> HttpResponse:
    """500: a reference that stands in the log beside the traceback that Django has just written."""
    reference = secrets.token_hex(4)
    _log.error("reference %s: %s %s ended in the fault above", reference, request.method, request.path)
    if request.path.startswith(PROGRAMS):
        message = f"The server could not finish this. Reference {reference}; it is in the log."
        return error_answer(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", message, retryable=True)
    return _page("500.html", HTTPStatus.INTERNAL_SERVER_ERROR, reference=reference)


def _page(template: str, status: HTTPStatus, **context: str) -> HttpResponse:
    """Rendered without the request: nothing of the frame is read, so that a fault of the database still has a page."""
    return HttpResponse(render_to_string(template, context), status=status)

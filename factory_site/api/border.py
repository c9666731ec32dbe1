"""What every request passes before a route sees it, and what an answer to a program looks like that no route made."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponseNotAllowed
from ninja.parser import Parser

from factory_site.api.errors import PROGRAMS, error_answer
from runs.contract.canonical import parse_strict
from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})
NUL = "\0"  # no database column of text holds it, PostgreSQL refuses it


def border(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Middleware: NUL characters in an address or a form reach no view, and 405 has the API's shape for programs."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if NUL in request.path_info:
            raise Http404
        for name, values in (*request.GET.lists(), *_form(request)):
            if NUL in name or any(NUL in value for value in values):
                return _no_nul(name)
        response = get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and request.path.startswith(PROGRAMS):
            return _not_allowed(request, response.headers["Allow"])
        return response

    return answer


def _form(request: HttpRequest) -> Iterable[tuple[str, list[str]]]:
    """The fields that a page sent; a body for programs is left unread."""
    is_form = request.method == "POST" and request.content_type in FORMS
    return request.POST.lists() if is_form and not request.path.startswith(("/artifacts", *PROGRAMS)) else ()


def _no_nul(name: str) -> HttpResponseBase:
    shown = name.replace(NUL, "")
    return error_answer(
        HTTPStatus.BAD_REQUEST,
        "invalid_field",
        f"{shown}: a NUL character is part of no text here.",
        details={"field": shown},
    )


def _not_allowed(request: HttpRequest, allowed: str) -> HttpResponseBase:
    refused = error_answer(
        HTTPStatus.METHOD_NOT_ALLOWED,
        "not_found",
        f"There is no {request.method} {request.path}; it takes {allowed}.",
        details={"allow": allowed.split(", ")},
    )
    refused.headers["Allow"] = allowed
    return refused


class StrictParser(Parser):
    """Bodies are strict JSON: no duplicate key, NaN, lone surrogate or NUL character."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the document; raises ``Invalid`` malformed_json or invalid_field, which ninja wraps in its own."""
        try:
            document = parse_strict(request.body)
        except Invalid as error:
            raise Invalid("malformed_json", f"The body is {error.message}.") from error
        path = _nul_path(document)
        if path is not None:
            field = path or "body"
            message = f"{field}: a NUL character is part of no text here."
            raise Invalid("invalid_field", message, details={"field": field})
        return document


def _nul_path(document: Any) -> str | None:
    """Where the document holds a NUL character, as dotted names; None when it holds none."""
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str) and NUL in value:
            return path
        if isinstance(value, list):
            waiting += [(path, item) for item in value]
        elif isinstance(value, dict):
            for key, item in value.items():
                if NUL in key:
                    return path
                waiting.append((f"{path}.{key}" if path else key, item))
    return None

"""The shortest way from a worker's request to its view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

BELOW = "/worker/v1/"
UPLOAD = "/artifacts"  # below it are addresses for people


def worker_door(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Middleware, the first one: requests of the worker protocol meet nothing that sessions, forms and pages need.

    Most requests of a fleet are of this kind, and each check of theirs is made by `workers.wire.endpoint`.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(BELOW) or request.path_info == UPLOAD:
            view, arguments, parts = resolve(request.path_info, urlconf="workers.urls")
            response: HttpResponseBase = view(request, *arguments, **parts)
            if isinstance(response, HttpResponse):  # one that is whole; the connection is kept for the next request
                response.headers.setdefault("Content-Length", str(len(response.content)))
            return response
        return get_response(request)

    return answer

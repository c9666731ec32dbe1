"""What every answer to a browser carries, and how long a sign-in lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.cache import patch_vary_headers

from factory_site.console.moment import moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
RENEWED_AFTER = 600  # seconds: a sign-in slides on at most once in ten minutes, which spares a write for each page
SERVER_CLOCK = "X-Server-Time"  # milliseconds since 1970, by which the browser corrects its own clock


def console_headers(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Middleware: content policy on everything, no caching of pages, and a sliding sign-in that polls do not renew."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated and not is_poll(request):
            _slide(request)
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        if response.headers.get("Content-Type", "").startswith("text/html") or is_poll(request):
            response.headers.setdefault("Cache-Control", "private, no-cache")
            response.headers[SERVER_CLOCK] = str(int(moment(request).timestamp() * 1000))
            patch_vary_headers(response, ["HX-Request", "HX-Target"])
        return response

    return answer


def is_poll(request: HttpRequest) -> bool:
    """Whether the browser asks by itself, without a person having done anything."""
    return request.method == "GET" and ("HX-Request" in request.headers or request.path == "/pulse/")


def _slide(request: HttpRequest) -> None:
    seconds = int(moment(request).timestamp())
    if seconds - request.session.get("slid", 0) > RENEWED_AFTER:
        request.session["slid"] = seconds

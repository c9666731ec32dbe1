"""The door of every page: who may come in, which part of the page is wanted, and how a failure is told."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from django.db import OperationalError
from django.http import HttpResponse, HttpResponseNotAllowed, HttpResponseNotModified, HttpResponseRedirect
from django.shortcuts import render

from factory_site import __version__
from runs.contract.errors import FactoryError, Invalid, NotFound, Transient
from runs.models.user import Role
from runs.people import role_check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from django.http import HttpRequest

    from runs.models.user import User

    View = Callable[..., HttpResponse]

BUSY = Transient("database_busy", "The database is busy. Try again.")
_log = logging.getLogger(__name__)
CODES = {"role_required": HTTPStatus.FORBIDDEN, "rate_limited": HTTPStatus.TOO_MANY_REQUESTS}


class SeeOther(HttpResponseRedirect):
    """The answer to a form that was acted on: the page that shows the new state."""

    status_code = HTTPStatus.SEE_OTHER


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal as the page shows it: one sentence, its code, and sentences at the fields that are wrong."""

    sentence: str
    code: str
    status: HTTPStatus
    fields: Mapping[str, str]
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Region:
    """The polled part of a page: the element that is swapped, what it shows, and how often; None: it has ended."""

    target: str
    etag: str
    seconds: int | None


def signed_in(*methods: str) -> Callable[[View], View]:
    """Let people with a session in, with these methods (GET when none is named); a poll of others answers 401."""
    allowed = methods or ("GET",)

    def door(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return _sign_in_first(request)
            if request.method not in {*allowed, "HEAD"}:
                return HttpResponseNotAllowed(allowed)
            try:
                return view(request, *args, **kwargs)
            except FactoryError as error:
                return failure(request, problem(error))
            except OperationalError:
                _log.warning("the database did not answer %s %s", request.method, request.path, exc_info=True)
                return failure(request, problem(BUSY))

        return guarded

    return door


def _sign_in_first(request: HttpRequest) -> HttpResponse:
    if "HX-Request" in request.headers or request.path == "/pulse/":
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED)
    came_from = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
    return SeeOther(f"/login/?{urlencode({'next': came_from})}")


def person(request: HttpRequest) -> User:
    """The signed-in person of a guarded view."""
    return cast("User", request.user)


def actor(request: HttpRequest) -> str:
    """The signed-in person as decisions record them."""
    return f"operator:{person(request).get_username()}"


def require(request: HttpRequest, role: Role, doing: str) -> None:
    """Raise ``Refused`` role_required unless the person may; `doing` is as in "Cancelling a plan"."""
    role_check(Role(person(request).role), role, doing)


def problem(error: FactoryError, fields: Mapping[str, str] | None = None) -> Problem:
    """What a service refused, with the status that its kind of error has."""
    return Problem(error.message, error.code, status_of(error), fields or {}, error.details)


def status_of(error: FactoryError) -> HTTPStatus:
    """The status of an error by what the caller can do about it."""
    if error.code in CODES:
        return CODES[error.code]
    if isinstance(error, Invalid):
        return HTTPStatus.BAD_REQUEST
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND
    return HTTPStatus.SERVICE_UNAVAILABLE if isinstance(error, Transient) else HTTPStatus.CONFLICT


def failure(request: HttpRequest, found: Problem) -> HttpResponse:
    """A page of its own for a refusal that no form on screen can show."""
    return render(request, "console/failure.html", {"problem": found}, status=found.status)


def region(request: HttpRequest, target: str, version: object, seconds: int | None) -> Region:
    """The polled part `target` at this version of its rows; the tag also holds what else changes how it looks."""
    zone = request.COOKIES.get("zone", "")
    seen = repr((target, version, seconds, person(request).role, zone, request.get_full_path(), __version__))
    return Region(target, f'"{hashlib.sha256(seen.encode()).hexdigest()[:24]}"', seconds)


def unchanged(request: HttpRequest, found: Region) -> HttpResponse | None:
    """304 when the browser has this very version on screen; asked before anything else is read."""
    if _wants(request, found) and request.headers.get("If-None-Match") == found.etag:
        return HttpResponseNotModified(headers={"ETag": found.etag})
    return None


def show(
    request: HttpRequest, template: str, context: Mapping[str, Any], found: Region | None = None, status: int = 200
) -> HttpResponse:
    """The page, or its polled part alone when that is what the browser asked for."""
    whole = {**context, "live_region": found}
    if found is not None and _wants(request, found):
        response = render(request, f"{template}#{found.target}", whole, status=status)
        response.headers["ETag"] = found.etag
        return response
    return render(request, template, whole, status=status)


def _wants(request: HttpRequest, found: Region) -> bool:
    return request.method == "GET" and request.headers.get("HX-Target") == found.target

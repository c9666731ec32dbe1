"""The HTTP API, assembled from the routers of the apps. A new route is closed unless it says otherwise."""

from __future__ import annotations

from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError
from ninja.responses import Status
from ninja.security import django_auth

from factory_site import __version__

if TYPE_CHECKING:
    from collections.abc import Callable


def _signed_in(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Open the documentation to people with a session only, as everything but the health route."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(request, *args, **kwargs) if request.user.is_authenticated else _unauthenticated(request)

    return guarded


def _unauthenticated(request: HttpRequest, error: object = None) -> JsonResponse:
    del request, error
    detail = {"code": "unauthenticated", "message": "Sign in, or send an API token.", "retryable": False}
    return JsonResponse({"error": detail}, status=HTTPStatus.UNAUTHORIZED)


api = NinjaAPI(
    title="Factory",
    version=__version__,
    description="Control plane for fleets of coding agents.",
    openapi_url="/api/openapi.json",
    docs_url="/api/docs",
    docs_decorator=_signed_in,
    auth=django_auth,
)
api.add_exception_handler(AuthenticationError, _unauthenticated)


class Health(Schema):
    """Whether this web process can do its work."""

    status: Literal["ok", "unavailable"]
    version: str
    database: Literal["ok", "unavailable"]


@api.get("/health", auth=None, response={200: Health, 503: Health}, tags=["status"])
def health(request: HttpRequest) -> Status[Any]:
    """Tell whether the process answers and its database does."""
    del request
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return Status(503, {"status": "unavailable", "version": __version__, "database": "unavailable"})
    return Status(200, {"status": "ok", "version": __version__, "database": "ok"})

"""The API object: its routers, its authentication and its one error shape."""

from __future__ import annotations

from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse  # ninja reads the annotations
from ninja import NinjaAPI, Schema
from ninja.responses import Status
from prometheus_client import CONTENT_TYPE_LATEST

from factory_site import __version__
from factory_site.api.auth import SessionCaller, TokenCaller
from factory_site.api.border import StrictParser
from factory_site.api.errors import UNAUTHENTICATED, error_answer, register_handlers
from factory_site.api.fleet.agents import router as agents
from factory_site.api.fleet.artifacts import listing as artifact_lists
from factory_site.api.fleet.artifacts import router as artifacts
from factory_site.api.fleet.doctor import router as doctor
from factory_site.api.fleet.limits import budgets, pauses
from factory_site.api.fleet.outbox import router as outbox
from factory_site.api.fleet.worker import router as worker
from factory_site.api.merges import router as merges
from factory_site.api.pulls import router as pulls
from factory_site.api.reviewers import router as reviewers
from factory_site.api.run_verbs import router as runs
from factory_site.api.status import router as status
from factory_site.api.tasks import router as tasks
from factory_site.api.workers import router as workers
from factory_site.figures.metrics import metrics_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponseBase


def _signed_in(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Open the documentation to people with a session only, as everything but the health route."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        return error_answer(HTTPStatus.UNAUTHORIZED, "unauthenticated", UNAUTHENTICATED)

    return guarded


api = NinjaAPI(
    title="Factory",
    version=__version__,
    description="Control plane for fleets of coding agents.",
    openapi_url="/api/openapi.json",
    docs_url="/api/docs",
    docs_decorator=_signed_in,
    auth=[TokenCaller(), SessionCaller()],
    parser=StrictParser(),
)
register_handlers(api)
api.add_router("/api/v1/status", status, tags=["status"])
api.add_router("/api/v1/pull-requests", pulls, tags=["pull requests"])
api.add_router("/api/v1/pull-requests", merges, tags=["pull requests"])
api.add_router("/api/v1/reviewers", reviewers, tags=["pull requests"])
api.add_router("/api/v1/tasks", tasks, tags=["tasks"])
api.add_router("/api/v1/runs", runs, tags=["runs"])
api.add_router("/api/v1/workers", workers, tags=["workers"])
api.add_router("/api/v1/workers", worker, tags=["workers"])
api.add_router("/api/v1/pauses", pauses, tags=["limits"])
api.add_router("/api/v1/budgets", budgets, tags=["limits"])
api.add_router("/api/v1/agents", agents, tags=["agents"])
api.add_router("/api/v1/doctor", doctor, tags=["status"])
api.add_router("/api/v1/artifacts", artifact_lists, tags=["artifacts"])
api.add_router("/api/v1/outbox", outbox, tags=["status"])
api.add_router("/artifacts", artifacts, tags=["artifacts"])


PLAIN_TEXT = {"responses": {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}}


class Health(Schema):
    """Whether this web process can do its work."""

    status: Literal["ok", "unavailable"]
    version: str
    database: Literal["ok", "unavailable"]


@api.get("/metrics", response={200: Any}, tags=["status"], openapi_extra=PLAIN_TEXT)
def metrics(request: HttpRequest) -> HttpResponse:
    """The system in numbers, in the text format of Prometheus."""
    del request
    return HttpResponse(metrics_text(), content_type=CONTENT_TYPE_LATEST)


@api.get("/health", auth=None, response={200: Health, 503: Health}, tags=["status"])
def health(request: HttpRequest) -> Status[Any]:
    """Tell whether the process answers and its database does, with its tables."""
    del request
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")  # a lost file of SQLite is an empty one at once
    except DatabaseError:
        return Status(503, {"status": "unavailable", "version": __version__, "database": "unavailable"})
    return Status(200, {"status": "ok", "version": __version__, "database": "ok"})

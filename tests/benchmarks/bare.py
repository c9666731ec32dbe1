"""The floor of HTTP: `python -m tests.benchmarks.bare FILE PORT`, the same two requests without a rule.

A ninja app on gunicorn with as many threads as the product, with the floor's statements on the floor's file.
"""

import sys
import threading
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.urls import path
from gunicorn.app.base import BaseApplication

from tests.benchmarks.floor import SqliteFloor

settings.configure(ROOT_URLCONF="tests.benchmarks.bare", ALLOWED_HOSTS=["127.0.0.1"], MIDDLEWARE=[], SECRET_KEY="bench")

from ninja import NinjaAPI, Schema  # noqa: E402 -- it reads the settings when it is loaded

THREADS = 80
urlpatterns: list[Any] = []


class Claim(Schema):
    """What the load client sends to claim."""

    adapters: list[str]
    labels: dict[str, str]


class Result(Schema):
    """What it sends as a result."""

    attempt: int
    fencingToken: str  # noqa: N815 -- as it stands on the wire
    result: dict[str, Any]


class Bare(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn with these options."""

    def __init__(self, application: Any, port: str) -> None:
        self.application = application
        self.options = {"bind": f"127.0.0.1:{port}", "worker_class": "gthread", "threads": THREADS, "workers": 1,
                        "keepalive": 75, "loglevel": "warning", "control_socket_disable": True}  # fmt: skip
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self.application


def routes(file: Path) -> NinjaAPI:
    """The two requests; every thread has a connection of its own."""
    api = NinjaAPI()
    local = threading.local()

    def floor() -> SqliteFloor:
        if not hasattr(local, "floor"):
            local.floor = SqliteFloor(file)
        found: SqliteFloor = local.floor
        return found

    @api.post("/worker/v1/claim")
    def claim(request: HttpRequest, body: Claim) -> dict[str, Any]:
        del request, body
        token = floor().claim()
        return {"claim": {"runId": "run", "attempt": 1, "fencingToken": str(token)}}

    @api.post("/worker/v1/runs/{run_id}/result")
    def result(request: HttpRequest, run_id: str, body: Result) -> dict[str, Any]:
        del request, run_id
        floor().result(int(body.fencingToken))
        return {"accepted": True}

    return api


def main(file: str, port: str) -> None:
    django.setup()
    sys.modules["tests.benchmarks.bare"] = sys.modules["__main__"]  # where Django looks for the routes
    urlpatterns.append(path("", routes(Path(file)).urls))
    sys.argv = sys.argv[:1]
    Bare(WSGIHandler(), port).run()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Routes of the worker protocol; a path below it that nobody serves is answered in the protocol's own form."""

from django.urls import path, re_path, register_converter

from workers.wire import attempts, boots, claims, files, pools, results, uploads
from workers.wire.unknown import unknown


class Sha256:
    """The bare 64 hex digits of a hash."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        """Leave it as it is."""
        return value

    def to_url(self, value: str) -> str:
        """Leave it as it is."""
        return value


register_converter(Sha256, "sha256")

urlpatterns = [
    path("worker/v1/hello", boots.hello),
    path("worker/v1/claim", claims.claim),
    path("worker/v1/runs/<str:run_id>/heartbeat", attempts.heartbeat),
    path("worker/v1/runs/<str:run_id>/trace", attempts.trace),
    path("worker/v1/runs/<str:run_id>/result", results.result),
    path("worker/v1/documents/<sha256:hex_digits>", files.document),
    path("worker/v1/artifacts/<sha256:hex_digits>", files.artifact),
    path("worker/v1/pool", pools.pool),
    path("worker/v1/bye", boots.bye),
    path("artifacts", uploads.upload),
    re_path(r"^worker/v1/", unknown),
]

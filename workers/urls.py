"""Routes of the worker protocol; a path below it that nobody serves is answered in the protocol's own form."""

from django.urls import path, re_path

from workers.wire import boots
from workers.wire.unknown import unknown

urlpatterns = [
    path("worker/v1/hello", boots.hello),
    path("worker/v1/bye", boots.bye),
    re_path(r"^worker/v1/", unknown),
]

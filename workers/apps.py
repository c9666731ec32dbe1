"""Registration of the app with Django."""

from django.apps import AppConfig


class WorkersConfig(AppConfig):
    """Worker registry, worker protocol and pool."""

    name = "workers"

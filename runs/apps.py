"""Registration of the app with Django."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """The kernel: queue, definitions, events, flows and the people who decide."""

    name = "runs"

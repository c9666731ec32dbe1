"""Registration of the app with Django."""

from django.apps import AppConfig


class ConvergenceConfig(AppConfig):
    """Pull requests on their way to an approved review."""

    name = "convergence"

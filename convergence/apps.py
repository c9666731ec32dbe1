"""Registration of the app with Django."""

from django.apps import AppConfig


class ConvergenceConfig(AppConfig):
    """Pull requests on their way to an approved review."""

    name = "convergence"

    def ready(self) -> None:
        """Tell the kernel which flow, question and signals this app brings."""
        from convergence.registration import register

        register()

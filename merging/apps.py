"""Registration of the app with Django."""

from django.apps import AppConfig


class MergingConfig(AppConfig):
    """Approved pull requests on their way into their base branch."""

    name = "merging"

    def ready(self) -> None:
        """Make the flow known once all models are loaded."""
        from merging.registration import register

        register()

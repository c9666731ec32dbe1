"""Registration of the app with Django."""

from django.apps import AppConfig


class MergingConfig(AppConfig):
    """Approved pull requests on their way into their base branch."""

    name = "merging"

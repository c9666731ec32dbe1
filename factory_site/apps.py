"""Registration of the app with Django."""

from django.apps import AppConfig


class FactorySiteConfig(AppConfig):
    """The commands that run the whole system."""

    name = "factory_site"

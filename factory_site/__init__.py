"""Settings, routes, API assembly and the commands that run the whole system."""

__version__ = "0.1.0"

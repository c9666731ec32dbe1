"""The HTTP API, assembled from the routers of the apps. A new route is closed unless it says otherwise."""

from factory_site.api.assembly import api

__all__ = ["api"]

"""Every route of the site; pages of the console come before the API, whose root pattern matches the rest."""

from django.contrib import admin
from django.urls import include, path, re_path

from factory_site.api import api
from factory_site.api.abandon import abandon
from factory_site.api.errors import unknown_path
from runs.intake.views import github_hook

urlpatterns = [
    path("hooks/github", github_hook),
    path("hooks/abandon", abandon),
    path("admin/", admin.site.urls),
    path("", include("factory_site.console.urls")),
    path("", include("workers.urls")),
    path("", api.urls),
    re_path(r"^(?:api|hooks|worker|artifacts)/", unknown_path),
]

handler400 = "factory_site.console.failures.unreadable"
handler403 = "factory_site.console.failures.forbidden"
handler404 = "factory_site.console.failures.not_found"
handler500 = "factory_site.console.failures.fault"

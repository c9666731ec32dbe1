"""The admin site: the role admin alone, and the product's own sign-in, which counts wrong passwords."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied

from factory_site.console.doors import SeeOther
from runs.window import is_admin

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


class FactoryAdminSite(AdminSite):
    """A window on the raw rows."""

    site_header = "Factory: raw rows"
    site_title = "Factory admin"
    index_title = "Read-only window"
    site_url = "/"
    enable_nav_sidebar = False

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Leave Django's groups out: nothing here goes by them."""
        if Group not in (model_or_iterable if isinstance(model_or_iterable, Iterable) else [model_or_iterable]):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Only the role counts, not Django's staff flag."""
        return is_admin(request)

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Send strangers to the console's sign-in; who is signed in without the role is refused."""
        del extra_context
        if request.user.is_authenticated and not is_admin(request):
            raise PermissionDenied
        return SeeOther(f"/login/?{urlencode({'next': request.GET.get('next') or '/admin/'}, safe='/')}")

    def logout(  # type: ignore[override]  # a redirect, as everywhere here
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        """Sign out as the console does: by POST."""
        del extra_context
        from factory_site.console.sign_in import sign_out

        return sign_out(request)

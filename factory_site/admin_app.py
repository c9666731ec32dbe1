"""Django's admin with the product's own site."""

from django.contrib.admin.apps import AdminConfig


class FactoryAdminConfig(AdminConfig):
    """The admin app on a site that asks for the role admin."""

    default_site = "factory_site.admin_site.FactoryAdminSite"

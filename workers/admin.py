"""A window on the registry and the credentials: nothing is added, changed or removed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from workers.models import Credential, CredentialToken, Worker

if TYPE_CHECKING:
    from django.http import HttpRequest

    Rows = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
else:
    Rows = admin.ModelAdmin
    Inline = admin.TabularInline


class Window:
    """No add, change or delete; rows are written by services alone."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody adds rows here."""
        del request, obj
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody changes rows here."""
        del request, obj
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody removes rows here."""
        del request, obj
        return False


class TokenInline(Window, Inline):
    """The tokens of a node, without their hashes."""

    model = CredentialToken
    exclude = ("token_hash",)
    extra = 0


@admin.register(Credential)
class CredentialAdmin(Window, Rows):
    """Nodes and what they may claim."""

    list_display = ("node", "adapters", "workspace_kinds", "repositories", "adapter_override", "created_at")
    search_fields = ("node",)
    inlines = (TokenInline,)


@admin.register(Worker)
class WorkerAdmin(Window, Rows):
    """Boots of workers, newest first."""

    list_display = ("worker_id", "node", "host", "pool", "slot", "version", "last_seen_at", "draining", "stopped_at")
    list_filter = ("node", "pool", "draining")
    search_fields = ("worker_id", "host")
    show_full_result_count = False

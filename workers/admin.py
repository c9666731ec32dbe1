"""A window on the registry and the credentials: nothing is added, changed or removed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from runs.window import WindowInline, WindowRows
from workers.models import Credential, CredentialToken, Pool, Worker

if TYPE_CHECKING:
    from django.http import HttpRequest


class TokenInline(WindowInline):
    """The tokens of a node, without their hashes."""

    model = CredentialToken
    exclude = ("token_hash",)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        """Show no secret, not even its hash."""
        del request, obj
        return [field.name for field in self.opts.fields if field.name != "token_hash"]


@admin.register(Credential)
class CredentialAdmin(WindowRows):
    """Nodes and what they may claim."""

    list_display = ("node", "adapters", "workspace_kinds", "repositories", "adapter_override", "created_at")
    search_fields = ("node__startswith",)
    inlines = (TokenInline,)


@admin.register(Worker)
class WorkerAdmin(WindowRows):
    """Boots of workers, newest first."""

    list_display = ("worker_id", "node", "host", "pool", "slot", "version", "last_seen_at", "draining", "stopped_at")
    list_filter = ("node", "pool", "draining")
    search_fields = ("worker_id__startswith", "host__exact")


@admin.register(Pool)
class PoolAdmin(WindowRows):
    """Pools as their supervisors last reported them."""

    list_display = ("name", "node", "host", "min", "max", "action", "reason", "crashes", "seen_at", "stopping")
    list_filter = ("node",)

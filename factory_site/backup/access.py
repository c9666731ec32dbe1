"""Who may come in after a restore: a backup brings back what was valid when it was taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from runs.clock import now
from runs.models import ApiToken
from workers.models import CredentialToken

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 10


def access_lines() -> Iterator[str]:
    """A line for workers and one for API tokens, if any is valid: whose, and the commands that end or renew one."""
    at = now()
    nodes = sorted(set(CredentialToken.objects.valid(at).values_list("credential__node", flat=True)))
    valid = Q(revoked_at__isnull=True) & (Q(expires_at__isnull=True) | Q(expires_at__gt=at))
    names = list(ApiToken.objects.filter(valid).order_by("name").values_list("name", flat=True))
    if nodes:
        yield (
            f"workers may claim with the credentials of the backup, also with those revoked since: {_listed(nodes)}; "
            "end one with: manage.py credentials revoke NODE, renew one with: manage.py credentials rotate NODE"
        )
    if names:
        yield (
            f"API tokens of the backup are valid, also those revoked since: {_listed(names)}; "
            "end one with: manage.py tokens revoke NAME"
        )


def _listed(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")

"""What a node may claim, and the bearer tokens that prove a request comes from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from datetime import datetime

ANYTHING = "*"
DISPLAYED_CHARACTERS = 6  # of the token's random part: enough to tell two tokens of a node apart, useless to guess by


class Credential(models.Model):
    """One node: its name and its allow-lists. Lists hold names; ``*`` stands for every name."""

    node = models.CharField(max_length=63, unique=True)
    labels = models.JSONField(default=dict)  # key → list of values or ["*"]; the key "*" stands for every label
    adapters = models.JSONField(default=list)
    workspace_kinds = models.JSONField(default=list)
    repositories = models.JSONField(default=list)  # owner/repo, owner/* or *
    adapter_override = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering = ("node",)

    def __str__(self) -> str:
        return self.node


class TokenQuerySet(models.QuerySet["CredentialToken"]):
    """Questions about tokens that depend on the time."""

    def valid(self, at: datetime) -> TokenQuerySet:
        """Tokens that are neither revoked nor expired at this instant."""
        return self.filter(
            Q(revoked_at__isnull=True) | Q(revoked_at__gt=at), Q(expires_at__isnull=True) | Q(expires_at__gt=at)
        )


class CredentialToken(models.Model):
    """One bearer token of a node, kept as its SHA-256.

    ``revoked_at`` may lie in the future: a rotation sets it for the older token, and it is dead from then on.
    """

    credential = models.ForeignKey(Credential, on_delete=models.CASCADE, related_name="tokens")
    token_hash = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=DISPLAYED_CHARACTERS)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.CharField(max_length=200, default="")
    proven_at = models.DateTimeField(null=True)  # its first accepted claim or heartbeat
    last_used_at = models.DateTimeField(null=True)  # to the minute
    last_used_from = models.CharField(max_length=45, default="")

    objects: ClassVar[models.Manager[CredentialToken]] = models.Manager.from_queryset(TokenQuerySet)()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.credential.node} {self.prefix}…"

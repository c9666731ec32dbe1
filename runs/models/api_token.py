"""Tokens with which programs act for a person, stored as hashes."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from runs.models.user import Role


class ApiToken(models.Model):
    """One bearer token. It carries a role of its own, never above its person's at the time of use."""

    name = models.CharField(max_length=80, unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    role = models.CharField(max_length=16, choices=Role)
    token_hash = models.CharField(max_length=71, unique=True)
    prefix = models.CharField(max_length=12)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="api_token_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.role})"

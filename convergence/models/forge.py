"""What all processes share about the forge: each credential, its budgets and blocks, and answers worth keeping."""

from typing import ClassVar

from django.db import models

from convergence.forge.governor.purposes import Level


class ForgeCredential(models.Model):
    """A credential by the id that stands for it, and what the forge says of it; the secret itself is never stored."""

    credential_id = models.CharField(max_length=12, unique=True)
    source = models.CharField(max_length=32)  # which of the three sources it was found in
    kind = models.CharField(max_length=32)
    login = models.CharField(max_length=100, default="", blank=True)
    scopes = models.JSONField(null=True)  # null: the forge names none
    expires_at = models.DateTimeField(null=True)
    checked_at = models.DateTimeField()
    fault = models.CharField(max_length=500, default="", blank=True)  # why the last check learnt nothing
    fault_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.credential_id


class ForgeBudget(models.Model):
    """One account of the governor: a resource of a credential. Written by `services.forge_budgets` alone."""

    credential_id = models.CharField(max_length=12)
    resource = models.CharField(max_length=16)
    limit = models.PositiveIntegerField(null=True)
    remaining = models.PositiveIntegerField(null=True)
    reset_at = models.DateTimeField(null=True)
    samples = models.JSONField(default=list)
    level = models.PositiveSmallIntegerField(default=Level.NORMAL)
    scarce_since = models.DateTimeField(null=True)
    blocked_until = models.DateTimeField(null=True)
    blocked_since = models.DateTimeField(null=True)
    block_code = models.CharField(max_length=64, default="", blank=True)
    block_message = models.CharField(max_length=500, default="", blank=True)
    probe_until = models.DateTimeField(null=True)
    secondary_seconds = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    succeeded_at = models.DateTimeField(null=True)
    stamps = models.JSONField(default=list)
    booked_until = models.FloatField(default=0.0)
    batch_size = models.PositiveSmallIntegerField(null=True)
    defect = models.CharField(max_length=500, default="", blank=True)
    defect_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["credential_id", "resource"], name="forge_budget_once"),
        ]

    def __str__(self) -> str:
        return f"{self.credential_id} {self.resource}"


class ForgeCache(models.Model):
    """The last answer of one address to one credential, with the tag by which the forge says that it still stands."""

    url = models.CharField(max_length=1000)
    credential_id = models.CharField(max_length=12)
    etag = models.CharField(max_length=200)
    body = models.TextField()
    size = models.PositiveIntegerField()  # bytes of the body
    checked_at = models.DateTimeField()
    used_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["url", "credential_id"], name="forge_cache_once")]
        indexes: ClassVar = [models.Index(fields=["used_at"], name="forge_cache_used")]

    def __str__(self) -> str:
        return self.url


class ForgeTeam(models.Model):
    """The members of a team that is a reviewer, as the forge listed them last."""

    team = models.CharField(max_length=140, unique=True)  # organisation/slug, in lower case
    members = models.JSONField(default=list)
    read_at = models.DateTimeField(null=True)  # null: never read whole
    fault = models.CharField(max_length=500, default="", blank=True)
    checked_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.team

"""Stored bytes, which attempt may bind them, and what they were bound as."""

from __future__ import annotations

from django.db import models

from runs.models.attempt import Attempt
from runs.models.result import Result


class Artifact(models.Model):
    """One object of the store, under the bare 64 hex of its SHA-256. ``quarantined_at``: its bytes were damaged."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size_bytes = models.BigIntegerField()
    media_type = models.CharField(max_length=120)
    stored_at = models.DateTimeField()
    quarantined_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["stored_at"], name="artifact_by_age")]

    def __str__(self) -> str:
        return self.sha256


class ArtifactGrant(models.Model):
    """This attempt uploaded the object, and may bind it."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="grants", db_index=False)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="grants")
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "artifact"], name="artifact_grant_once")]

    def __str__(self) -> str:
        return f"{self.attempt_id} may bind {self.artifact_id}"


class ResultArtifact(models.Model):
    """An object that an ended attempt names, with kind and name; ``result`` is null for a failed attempt."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="artifacts", db_index=False)
    result = models.ForeignKey(Result, on_delete=models.CASCADE, null=True, blank=True, related_name="artifacts")
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="bindings")
    kind = models.CharField(max_length=40)
    name = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "kind", "name"], name="result_artifact_name")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

"""Stored bytes, which attempt may bind them, and what they were bound as."""

from __future__ import annotations

from django.db import models

from runs.models.attempt import Attempt
from runs.models.result import Result
from runs.models.run import Run


class Artifact(models.Model):
    """One object of the store, under the bare 64 hex of its SHA-256.

    ``quarantined_at``: its bytes were damaged. ``leaving_at``: nothing refers to it, and it is being removed.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    size_bytes = models.BigIntegerField()
    media_type = models.CharField(max_length=120)
    stored_at = models.DateTimeField()
    quarantined_at = models.DateTimeField(null=True, blank=True)
    leaving_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["stored_at"], name="artifact_by_age"),
            models.Index(
                fields=["quarantined_at"],
                condition=models.Q(quarantined_at__isnull=False),
                name="artifact_quarantined",
            ),
            models.Index(fields=["leaving_at"], condition=models.Q(leaving_at__isnull=False), name="artifact_leaving"),
        ]

    def __str__(self) -> str:
        return self.sha256


class ArtifactGrant(models.Model):
    """This attempt uploaded the object, and may bind it. ``kind``: what the worker called it, if anything."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="grants", db_index=False)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="grants")
    kind = models.CharField(max_length=40, blank=True, default="")
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
        indexes = [
            # The logs of attempts that were not accepted, which nothing cites.
            models.Index(fields=["attempt"], condition=models.Q(result__isnull=True), name="result_artifact_of_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class RunInput(models.Model):
    """An object that a run's specification declares as an input; it stays for as long as the run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="input_artifacts", db_index=False)
    artifact = models.ForeignKey(Artifact, on_delete=models.PROTECT, related_name="inputs_of")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "artifact"], name="run_input_once")]

    def __str__(self) -> str:
        return f"run {self.run_id} reads {self.artifact_id}"

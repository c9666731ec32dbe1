"""The facts that were read last, for pages; nothing is ever decided upon them."""

from typing import ClassVar

from django.db import models

from convergence.models.pull_request import PullRequest


class ForgeSnapshot(models.Model):
    """One profile of one pull request as the forge answered it."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="snapshots")
    profile = models.CharField(max_length=16)
    facts = models.JSONField()
    observed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["pull", "profile"], name="snapshot_once")]

    def __str__(self) -> str:
        return f"{self.profile} of {self.pull_id}"

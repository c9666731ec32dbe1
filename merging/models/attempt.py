"""Merge attempts: what was sent, and what was read back."""

from typing import ClassVar

from django.db import models

from convergence.models import PullRequest
from merging.models.flow import MergeFlow


class MergeAttempt(models.Model):
    """One attempt. While `sent_at` stands without an outcome the call is on the wire."""

    flow = models.ForeignKey(MergeFlow, on_delete=models.CASCADE, related_name="attempts")
    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="merge_attempts")
    generation = models.PositiveIntegerField()
    key = models.CharField(max_length=240, unique=True)
    expected_head = models.CharField(max_length=40)
    method = models.CharField(max_length=16, default="", blank=True)
    method_reason = models.CharField(max_length=100, default="", blank=True)
    admin = models.BooleanField(default=False)
    outcome = models.CharField(max_length=16, default="", blank=True)
    reason = models.CharField(max_length=32, default="", blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    message = models.CharField(max_length=500, default="", blank=True)
    landed_sha = models.CharField(max_length=40, default="", blank=True)
    actor = models.CharField(max_length=200, default="", blank=True)
    sent_at = models.DateTimeField(null=True)
    memory = models.JSONField(default=dict)  # what the write remembers between its read-backs
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["pull", "generation"], condition=models.Q(outcome="abandoned"), name="merge_abandoned_once"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["pull", "-id"], name="merge_attempt_recent")]

    def __str__(self) -> str:
        return f"{self.outcome or 'sent'} {self.reason}"

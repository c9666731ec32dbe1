"""What an attempt was accepted with, and the receipt that binds it."""

from __future__ import annotations

import json
from typing import Any

from django.db import models

from runs.models.attempt import Attempt
from runs.models.run import Run


class Result(models.Model):
    """The one accepted result of a run (completed or refused); ``canonical`` is its document as canonical JSON."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="result")
    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="result")
    terminal_state = models.CharField(max_length=16)
    reason_code = models.CharField(max_length=64)
    output_contract = models.CharField(max_length=120)
    artifact_hash = models.CharField(max_length=71, blank=True)
    evidence_hash = models.CharField(max_length=71, blank=True)
    canonical = models.TextField()
    accepted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(terminal_state__in=["completed", "refused"]), name="result_is_accepted"
            ),
        ]

    def __str__(self) -> str:
        return f"result of run {self.run_id}"

    @property
    def document(self) -> dict[str, Any]:
        """The accepted document as a mapping; a new one at each call."""
        loaded: dict[str, Any] = json.loads(self.canonical)
        return loaded


class Receipt(models.Model):
    """Binds specification, definition, result, evidence and journal of one run by their hashes."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="receipt")
    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="receipt")
    receipt_hash = models.CharField(max_length=71)
    journal_head = models.CharField(max_length=71)
    canonical = models.TextField()
    accepted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"receipt of run {self.run_id}"

    @property
    def document(self) -> dict[str, Any]:
        """The receipt as a mapping, `receiptHash` included; a new one at each call."""
        loaded: dict[str, Any] = json.loads(self.canonical)
        return loaded

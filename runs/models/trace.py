"""The live trace of an attempt: best effort, for people, never evidence."""

from __future__ import annotations

import json
from typing import Any

from django.db import models

from runs.models.attempt import Attempt


class TraceRow(models.Model):
    """One row; ``seq`` is the worker's, ``at`` its clock corrected to server time, for display only."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="trace", db_index=False)
    seq = models.BigIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=32)
    payload_json = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "seq"], name="trace_row_once")]

    def __str__(self) -> str:
        return f"{self.attempt_id}#{self.seq} {self.kind}"

    @property
    def payload(self) -> dict[str, Any]:
        """The payload as a mapping; a new one at each call."""
        loaded: dict[str, Any] = json.loads(self.payload_json)
        return loaded

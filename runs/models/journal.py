"""The journal of a run: append-only rows, chained by hash."""

from __future__ import annotations

import json
from typing import Any

from django.db import models

from runs.models.run import Run


class JournalKind(models.TextChoices):
    """What a row says; only `transition` moves the run."""

    TRANSITION = "transition", "Transition"
    EXTENSION = "extension", "Extension"
    DEADLINE = "deadline", "Deadline"
    FENCED = "fenced", "Fenced"


class JournalRow(models.Model):
    """One row of the chain of a run; ``detail_json`` is canonical JSON, ``attempt`` the attempt's number or null."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="journal", db_index=False)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=JournalKind)
    edge = models.CharField(max_length=32, blank=True)
    from_state = models.CharField(max_length=16, blank=True)
    to_state = models.CharField(max_length=16, blank=True)
    actor = models.CharField(max_length=200)
    reason_code = models.CharField(max_length=64, blank=True)
    detail_json = models.TextField(default="{}")
    attempt = models.PositiveIntegerField(null=True, blank=True)
    fencing_token = models.BigIntegerField(null=True, blank=True)
    at = models.DateTimeField()
    prev_hash = models.CharField(max_length=71)
    record_hash = models.CharField(max_length=71)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "seq"], name="journal_chain"),
            models.CheckConstraint(condition=models.Q(kind__in=JournalKind.values), name="journal_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.seq} {self.edge or self.kind}"

    @property
    def detail(self) -> dict[str, Any]:
        """The detail as a mapping; a new one at each call."""
        loaded: dict[str, Any] = json.loads(self.detail_json)
        return loaded

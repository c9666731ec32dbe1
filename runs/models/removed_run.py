"""What is left of a run that retention removed."""

from __future__ import annotations

from django.db import models


class RemovedRun(models.Model):
    """Its names, so that its idempotency key is never used twice and a link to it can be answered."""

    run_id = models.CharField(max_length=30, unique=True)
    idempotency_key = models.CharField(max_length=500, unique=True)
    state = models.CharField(max_length=16)
    ended_at = models.DateTimeField()
    removed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.run_id

"""The registry of workers: one row for each boot of a worker process."""

from __future__ import annotations

from django.db import models


class Worker(models.Model):
    """What one boot said about itself and when it was last heard. Its state is derived, never stored."""

    worker_id = models.CharField(max_length=128, unique=True)
    node = models.CharField(max_length=63)
    host = models.CharField(max_length=255, default="")
    pid = models.PositiveBigIntegerField(null=True)
    pool = models.CharField(max_length=63, default="")
    slot = models.PositiveIntegerField(null=True)
    version = models.CharField(max_length=100, default="")
    offer = models.JSONField(default=dict)
    offer_hash = models.CharField(max_length=71, default="")
    health = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    clock_skew_ms = models.BigIntegerField(
        null=True
    )  # its clock minus the server's at the last hello; for display only
    draining = models.BooleanField(default=False)
    blocked_reason = models.CharField(max_length=40, default="")
    quarantined = models.PositiveIntegerField(default=0)
    drain_requested_at = models.DateTimeField(null=True)  # by a person; `draining` is its own word
    drain_requested_by = models.CharField(max_length=200, default="")
    drain_reason = models.CharField(max_length=500, default="")
    stopped_at = models.DateTimeField(null=True)
    stop_reason = models.CharField(max_length=40, default="")

    class Meta:
        indexes = (models.Index(fields=["stopped_at", "last_seen_at"], name="worker_seen"),)
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.worker_id

    @property
    def is_leaving(self) -> bool:
        """Whether it takes no more runs: by its own word, or because a person asked it to leave."""
        return self.draining or self.drain_requested_at is not None

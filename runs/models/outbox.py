"""What is to be done outside the transaction that decided it, in order, at least once, under a key of its own."""

from typing import ClassVar

from django.db import models


class Outbox(models.Model):
    """One delivery. Pending until `done_at` or `dead_at`; rows of one stream are delivered in the order of their ids.

    `observed` is what the consumer saw afterwards: the one record of a write.
    """

    topic = models.CharField(max_length=40)
    key = models.CharField(max_length=240, unique=True)
    stream = models.CharField(max_length=200)
    payload = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    available_at = models.DateTimeField()
    tries = models.PositiveIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    observed = models.JSONField(default=dict)
    last_error = models.CharField(max_length=500, default="", blank=True)
    dead_at = models.DateTimeField(null=True)
    requeued_at = models.DateTimeField(null=True)  # the last time that an operator gave a dead row new tries
    requeued_by = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(done_at__isnull=True) | models.Q(dead_at__isnull=True),
                name="outbox_done_or_dead",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["available_at", "id"],
                condition=models.Q(done_at__isnull=True, dead_at__isnull=True),
                name="outbox_due",
            ),
            models.Index(fields=["stream", "id"], name="outbox_stream"),
        ]

    def __str__(self) -> str:
        return f"{self.topic} {self.key}"

"""The log of every edge that any flow took; its shape is final, because its ids enter idempotency keys."""

from typing import ClassVar

from django.db import models


class TransitionLog(models.Model):
    """One row an edge, append-only. `guards` holds the values that decided it, as they were."""

    flow = models.CharField(max_length=32)  # name of the flow type
    flow_row = models.PositiveBigIntegerField()
    subject = models.CharField(max_length=200)
    generation = models.PositiveIntegerField()
    from_state = models.CharField(max_length=32, blank=True)  # blank: the row was new
    to_state = models.CharField(max_length=32)
    edge = models.CharField(max_length=64)
    event = models.CharField(max_length=64)
    guards = models.JSONField(default=dict)
    actor = models.CharField(max_length=200)
    note = models.CharField(max_length=500, default="", blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["flow", "flow_row", "id"], name="transition_of_row"),
            models.Index(fields=["subject", "id"], name="transition_of_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.from_state or '(new)'} -> {self.to_state} by {self.edge}"

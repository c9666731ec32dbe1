"""When each periodic pass is due, whoever runs it."""

from typing import ClassVar

from django.db import models


class PeriodicTask(models.Model):
    """One pass. A consumer owns a start by moving `due_at` on; two consumers cannot both move it."""

    name = models.CharField(max_length=64, unique=True)
    interval_seconds = models.FloatField()
    due_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    resumed_at = models.DateTimeField(null=True)  # the last start that came after a pause, or was the first
    ended_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["due_at"], name="periodic_due")]

    def __str__(self) -> str:
        return self.name

"""The standing check of every journal."""

from __future__ import annotations

from django.db import models


class JournalCheck(models.Model):
    """One sweep over all runs, a slice at a time: ``next_key`` is the run's key to go on from.

    ``faults`` holds the first ones as ``{"runId", "seq", "kind"}``; ``fault_count`` counts all. A sweep that has ended
    keeps what it found until the next one has ended.
    """

    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    next_key = models.BigIntegerField(default=0)
    runs_checked = models.BigIntegerField(default=0)
    fault_count = models.PositiveIntegerField(default=0)
    faults = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                models.Value(1), condition=models.Q(ended_at__isnull=True), name="journal_check_one_under_way"
            ),
        ]

    def __str__(self) -> str:
        return f"check of {self.began_at:%Y-%m-%d}: {self.fault_count} faults"

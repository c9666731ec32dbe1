"""What was done to make checks run again: each remedy once for a head."""

from typing import ClassVar

from django.db import models

from merging.decisions.remedies import Remedy
from merging.models.flow import MergeFlow


class MergeRemedy(models.Model):
    """One remedy that was asked for; ``done_at`` is null until its effect was read back or refused."""

    flow = models.ForeignKey(MergeFlow, on_delete=models.CASCADE, related_name="remedies")
    kind = models.CharField(max_length=16, choices=[(each.value, each.value) for each in Remedy])
    head = models.CharField(max_length=40)
    target = models.CharField(max_length=40, default="", blank=True)  # run of the workflow; blank: the head as a whole
    asked_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=32, default="", blank=True)
    message = models.CharField(max_length=300, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["flow", "kind", "head", "target"], name="merge_remedy_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.head[:7]}"

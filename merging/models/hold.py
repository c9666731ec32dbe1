"""What a plan holds a ready pull request with."""

from typing import ClassVar

from django.db import models

from convergence.models import PullRequest


class HoldKind(models.TextChoices):
    """``trial_merge`` keeps it from merging; ``fresh_base`` wants the tip of the base in its branch first."""

    TRIAL_MERGE = "trial_merge"
    FRESH_BASE = "fresh_base"


class MergeHold(models.Model):
    """One hold of one group on one pull request, until it is released."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="merge_holds")
    kind = models.CharField(max_length=16, choices=HoldKind)
    group = models.CharField(max_length=200)
    set_by = models.CharField(max_length=200)
    set_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)
    released_by = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["pull", "kind", "group"], condition=models.Q(released_at__isnull=True), name="merge_hold_once"
            ),
            models.CheckConstraint(condition=models.Q(kind__in=HoldKind.values), name="merge_hold_known"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["pull"], condition=models.Q(released_at__isnull=True), name="merge_hold_open")
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.group}"

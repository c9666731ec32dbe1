"""What reviewers and trusted people found, and how each finding stood at the entry of each round."""

from typing import ClassVar

from django.db import models

from convergence.models.pull_request import PullRequest
from convergence.models.rounds import Round


class FindingKind(models.TextChoices):
    """Where a finding comes from."""

    THREAD = "thread", "Thread"
    ADVISORY = "advisory", "Suppressed comment"
    CHANGES = "changes", "Request for changes"


class FindingTrend(models.TextChoices):
    """How a finding stands at the entry of a round, against the entry before."""

    NEW = "new", "New"
    REPEAT = "repeat", "Still open"
    REOPENED = "reopened", "Reopened"
    GONE = "gone", "Closed"


class Finding(models.Model):
    """One finding of a generation. `fingerprint` is that of path and first words, however often it is raised."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="findings")
    generation = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=FindingKind)
    forge_id = models.CharField(max_length=100)  # thread or review; the fingerprint of an advisory
    fingerprint = models.CharField(max_length=16)
    author = models.CharField(max_length=100, default="", blank=True)
    path = models.CharField(max_length=400, default="", blank=True)
    text = models.CharField(max_length=400, default="", blank=True)  # its first words, quoted from outside
    url = models.CharField(max_length=500, default="", blank=True)
    is_open = models.BooleanField(default=True)  # at the newest entry
    closed_as = models.CharField(max_length=16, default="", blank=True)  # fixed, declined, vanished; blank while open
    reopened_count = models.PositiveSmallIntegerField(default=0)
    reopened_told = models.PositiveSmallIntegerField(default=0)  # that many when a person was last asked about churn

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pull", "generation", "kind", "forge_id"], name="finding_once"),
            models.CheckConstraint(condition=models.Q(kind__in=FindingKind.values), name="finding_kind_known"),
        ]
        indexes: ClassVar = [models.Index(fields=["fingerprint"], name="finding_fingerprint")]

    def __str__(self) -> str:
        return f"{self.kind} {self.path}: {self.text[:60]}"


class FindingStatus(models.Model):
    """How one finding stood at the entry of one round; a closed one that stays closed has no row."""

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="statuses")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="findings")
    trend = models.CharField(max_length=16, choices=FindingTrend)
    how = models.CharField(max_length=16, default="", blank=True)  # of a closed one: fixed, declined, vanished

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["finding", "round"], name="finding_status_once"),
            models.CheckConstraint(condition=models.Q(trend__in=FindingTrend.values), name="finding_trend_known"),
        ]

    def __str__(self) -> str:
        return self.trend

"""What people decided about a pull request beyond the turn that asked: remembered answers and waivers."""

from typing import ClassVar

from django.db import models

from convergence.models.escalation import Escalation
from convergence.models.pull_request import PullRequest


class Adjudication(models.Model):
    """A person's answer that settles the same question for the rest of a generation; ended, never deleted.

    Answer and question stand on the escalation's task; `decided_by` is the person's actor, also in a copy.
    """

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="adjudications")
    generation = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=16)
    escalation = models.ForeignKey(Escalation, on_delete=models.PROTECT, related_name="adjudications")
    decided_by = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=200, default="", blank=True)
    ended_why = models.CharField(max_length=16, default="", blank=True)  # reverted, replaced

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["pull", "generation", "fingerprint"],
                condition=models.Q(ended_at__isnull=True),
                name="adjudication_one_live",
            ),
            models.CheckConstraint(condition=~models.Q(decided_by=""), name="adjudication_has_person"),
        ]

    def __str__(self) -> str:
        return f"{self.fingerprint} by {self.decided_by}"


class WaiverKind(models.TextChoices):
    """What a person may let pass at one head."""

    HEAD = "head", "No review of the head"
    THREAD = "thread", "Open thread"
    REVIEW = "review", "Request for changes"
    ADVISORY = "advisory", "Suppressed comment"


class Waiver(models.Model):
    """One thing that a task listed and a person let pass at that head; another head or thread is not covered."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="waivers")
    generation = models.PositiveIntegerField()
    head = models.CharField(max_length=40)
    kind = models.CharField(max_length=16, choices=WaiverKind)
    target = models.CharField(max_length=100, default="", blank=True)  # blank for the head itself
    escalation = models.ForeignKey(Escalation, on_delete=models.PROTECT, related_name="waivers")
    given_by = models.CharField(max_length=200)
    given_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)  # the answer was taken back

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["pull", "generation", "head", "kind", "target"],
                condition=models.Q(ended_at__isnull=True),
                name="waiver_once",
            ),
            models.CheckConstraint(condition=models.Q(kind__in=WaiverKind.values), name="waiver_kind_known"),
            models.CheckConstraint(condition=~models.Q(head=""), name="waiver_has_head"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target} at {self.head[:7]}"

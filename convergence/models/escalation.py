"""Why a person is asked."""

from typing import ClassVar

from django.db import models

from convergence.models.pull_request import PullRequest
from runs.models.human_task import HumanTask


class EscalationState(models.TextChoices):
    """How a question stands."""

    OPEN = "open", "Open"
    ANSWERED = "answered", "Answered"
    STALE = "stale", "No longer needed"


class Escalation(models.Model):
    """One question of a flow to a person; a pull request never has two open ones."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="escalations")
    flow = models.CharField(max_length=32)
    generation = models.PositiveIntegerField()
    round = models.PositiveSmallIntegerField(default=0)
    reason = models.CharField(max_length=32)
    kind = models.CharField(max_length=16)  # question, blocker
    text = models.TextField()  # the full question
    fingerprint = models.CharField(max_length=16)
    task = models.OneToOneField(HumanTask, on_delete=models.PROTECT, related_name="escalation")
    state = models.CharField(max_length=16, choices=EscalationState, default=EscalationState.OPEN)
    auto_applied = models.BooleanField(default=False)  # answered from memory; the task names whose answer it is
    waivable = models.JSONField(default=dict)  # {"head", "targets": [[kind, id]]}: what an answer may let pass
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    reverted_at = models.DateTimeField(null=True)
    reverted_by = models.CharField(max_length=200, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pull"], condition=models.Q(state="open"), name="escalation_one_open"),
            models.CheckConstraint(condition=~models.Q(text=""), name="escalation_text_not_blank"),
            models.CheckConstraint(
                condition=models.Q(auto_applied=False) | ~models.Q(state="open"), name="escalation_auto_is_answered"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["state", "-asked_at"], name="escalation_state")]

    def __str__(self) -> str:
        return f"{self.reason}: {self.text[:60]}"

"""Rounds, the turns inside them, and what the gate said."""

from typing import ClassVar

from django.db import models

from convergence.models.pull_request import PullRequest


class RoundStatus(models.TextChoices):
    """How a round stands; written once for each turn, never both addressed and blocked."""

    RUNNING = "running", "Running"
    CONVERGED = "converged", "Converged"
    ADDRESSED = "addressed", "Addressed"
    NEEDS_INPUT = "needs_input", "Needs input"
    BLOCKED = "blocked", "Blocked"


class Round(models.Model):
    """One review of the pull request and the work that follows from it."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="rounds")
    generation = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=16, choices=RoundStatus, default=RoundStatus.RUNNING)
    raw_status = models.CharField(max_length=200, default="", blank=True)
    summary = models.TextField(default="", blank=True)
    entry_read = models.BooleanField(default=False)  # its findings were recorded
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pull", "generation", "number"], name="round_once"),
            models.CheckConstraint(condition=models.Q(status__in=RoundStatus.values), name="round_status_known"),
        ]

    def __str__(self) -> str:
        return f"round {self.number}: {self.status}"


class RoundTurn(models.Model):
    """One start of the review agent inside a round; `entry_head` blank is the marker "unknown"."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="turns")
    turn = models.PositiveSmallIntegerField()
    entry_head = models.CharField(max_length=40, default="", blank=True)
    exit_head = models.CharField(max_length=40, default="", blank=True)
    run_id = models.CharField(max_length=32, default="", blank=True)
    status = models.CharField(max_length=16, default="", blank=True)
    raw_status = models.CharField(max_length=200, default="", blank=True)
    summary = models.TextField(default="", blank=True)
    question = models.TextField(default="", blank=True)
    outcome = models.CharField(max_length=32, default="", blank=True)
    probe = models.CharField(max_length=32, default="", blank=True)  # progressed, husk, no_advance
    backlog = models.JSONField(default=dict)
    backlog_hash = models.CharField(max_length=71, default="", blank=True)
    replies = models.JSONField(default=list)  # what the agent returned to be posted
    acks = models.JSONField(default=list)
    answer = models.TextField(default="", blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["round", "turn"], name="turn_once")]
        indexes: ClassVar = [models.Index(fields=["run_id"], name="turn_run")]

    def __str__(self) -> str:
        return f"turn {self.turn}"


class GateCheck(models.Model):
    """What the converge gate read and said, written together."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="gate_checks")
    generation = models.PositiveIntegerField()
    round = models.PositiveSmallIntegerField()
    result = models.CharField(max_length=16)
    reason = models.CharField(max_length=300, default="", blank=True)
    head = models.CharField(max_length=40, default="", blank=True)
    counts = models.JSONField(default=dict)
    left = models.JSONField(default=dict)  # ids of what kept it from passing, by kind
    waived = models.PositiveSmallIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["pull", "-id"], name="gate_check_recent")]

    def __str__(self) -> str:
        return f"gate {self.result}"

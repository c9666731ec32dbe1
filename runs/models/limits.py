"""What people decide about limits: pauses of claims, and raises of a budget. Rows are history: none is deleted."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from runs.models.usage import SpendScope


class PauseScope(models.TextChoices):
    """What a pause keeps from being claimed."""

    GLOBAL = "global", "Everything"
    REPOSITORY = "repository", "Repository"
    AGENT = "agent", "Agent"


class Pause(models.Model):
    """Claims of a scope stand still from ``since`` until it is lifted, or until the instant ``until``.

    ``key`` is empty for the global scope, else ``owner/repo`` or an agent's id. Who lifted it and why stands in the
    row; ``clock`` lifted what had an ``until``. At most one pause of a scope and key is not lifted.
    """

    scope = models.CharField(max_length=16, choices=PauseScope)
    key = models.CharField(max_length=200, blank=True)
    reason = models.CharField(max_length=500)
    actor = models.CharField(max_length=200)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.CharField(max_length=200, blank=True)
    lift_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(scope__in=PauseScope.values), name="pause_scope_known"),
            models.CheckConstraint(
                condition=Q(scope="global", key="") | (~Q(scope="global") & ~Q(key="")), name="pause_key_by_scope"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="pause_has_reason"),
            models.CheckConstraint(
                condition=Q(lifted_at__isnull=True, lifted_by="") | (Q(lifted_at__isnull=False) & ~Q(lifted_by="")),
                name="pause_lifted_by_somebody",
            ),
            # Also what the claim reads: the pauses in force are its few entries.
            models.UniqueConstraint(
                F("scope"), Lower("key"), condition=Q(lifted_at__isnull=True), name="pause_in_force_once"
            ),
        ]

    def __str__(self) -> str:
        return f"pause of {self.key or 'everything'}"


class BudgetRaise(models.Model):
    """What an operator added to one limit. ``key``: the UTC day as YYYY-MM-DD, a subject's reference, or a run's id."""

    scope = models.CharField(max_length=16, choices=SpendScope)
    key = models.CharField(max_length=300)
    cost_micro_usd = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=500)
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(scope__in=SpendScope.values), name="raise_scope_known"),
            models.CheckConstraint(condition=~Q(reason="") & ~Q(key=""), name="raise_has_reason_and_key"),
            models.CheckConstraint(
                condition=Q(cost_micro_usd__gte=0, tokens__gte=0) & (Q(cost_micro_usd__gt=0) | Q(tokens__gt=0)),
                name="raise_adds_something",
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["scope", "key", "-id"], name="raise_of_limit")]

    def __str__(self) -> str:
        return f"raise of {self.scope} {self.key}"

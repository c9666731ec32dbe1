"""What attempts used, and the totals that limits and pages read."""

from __future__ import annotations

from django.db import models

from runs.models.attempt import Attempt


class CostSource(models.TextChoices):
    """Where a cost comes from."""

    REPORTED = "reported", "Reported"
    ESTIMATED = "estimated", "Estimated"
    UNKNOWN = "unknown", "Unknown"


class Usage(models.Model):
    """Running totals of one attempt; a total only grows. Money in µUSD, null when nobody knows it."""

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="usage")
    adapter = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cache_read_tokens = models.BigIntegerField(default=0)
    cache_write_tokens = models.BigIntegerField(default=0)
    turns = models.PositiveIntegerField(default=0)
    duration_ms = models.BigIntegerField(default=0)
    cost_micro_usd = models.BigIntegerField(null=True, blank=True)
    cost_source = models.CharField(max_length=16, choices=CostSource, default=CostSource.UNKNOWN)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"usage of attempt {self.attempt_id}"

    @property
    def tokens(self) -> int:
        """All tokens together, cached ones included."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


class SpendScope(models.TextChoices):
    """What a total is kept for."""

    DAY = "day", "Day"
    SUBJECT = "subject", "Subject"
    RUN = "run", "Run"


class Spend(models.Model):
    """A total: of a UTC day (key empty), a subject or a run on that day.

    A charge clears ``is_judged``; the pass of the limits sets it when it has looked whether a person is to be warned,
    and ``warned_at`` when it warned.
    """

    scope = models.CharField(max_length=16, choices=SpendScope)
    key = models.CharField(max_length=300, blank=True)
    day = models.DateField()
    cost_micro_usd = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    is_judged = models.BooleanField(default=True)
    warned_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["scope", "key", "day"], name="spend_total")]
        indexes = [
            # What was charged since the limits were looked at, and what spent on a day.
            models.Index(fields=["id"], condition=models.Q(is_judged=False), name="spend_unjudged"),
            models.Index(fields=["scope", "day", "-cost_micro_usd"], name="spend_of_day"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.key} {self.day}"

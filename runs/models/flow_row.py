"""The abstract base of every flow table: subject, generation, state, version, due date."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from django.db import models

if TYPE_CHECKING:
    from datetime import datetime

    from runs.machine import Machine


class FlowQuerySet(models.QuerySet["FlowRow"]):
    """Reads that every flow table shares."""

    def due(self, now: datetime) -> Self:
        """Rows whose next look is due, the longest overdue first; terminal rows have no due date."""
        return self.filter(due_at__lte=now).order_by("due_at", "id")


FlowManager = models.Manager.from_queryset(FlowQuerySet)


class FlowRow(models.Model):
    """One submission of a subject, driven by its machine. Nobody but `flows.move` writes `state`.

    `version` grows with every edge and decides races; `due_at` is the next look, null exactly when nothing moves any
    more; `entry_log` is the transition that entered the present state and enters idempotency keys of its runs.
    """

    machine: ClassVar[Machine]

    subject = models.CharField(max_length=200)
    generation = models.PositiveIntegerField()
    state = models.CharField(max_length=32)
    version = models.PositiveBigIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    timer_at = models.DateTimeField(null=True)  # when the state's own timer fires; null: none is armed
    entered_at = models.DateTimeField()
    entry_log = models.PositiveBigIntegerField(default=0)
    last_look_at = models.DateTimeField(null=True)
    last_look_error = models.CharField(max_length=500, default="", blank=True)
    look_failures = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = FlowManager()
    was_due: datetime | None = None  # when a row was due that a pass has claimed; not stored

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.subject} g{self.generation}: {self.state}"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing leaves the present state."""
        return self.state in self.machine.terminal


def flow_constraints(machine: Machine, prefix: str) -> list[models.BaseConstraint]:
    """The constraints that every flow table derives from its machine, named with the prefix."""
    ended = models.Q(state__in=sorted(machine.terminal))
    return [
        models.CheckConstraint(condition=models.Q(state__in=machine.values), name=f"{prefix}_state_known"),
        models.CheckConstraint(
            condition=(ended & models.Q(ended_at__isnull=False, due_at__isnull=True))
            | (~ended & models.Q(ended_at__isnull=True, due_at__isnull=False)),
            name=f"{prefix}_ended_has_no_due_date",
        ),
        models.UniqueConstraint(fields=["subject", "generation"], name=f"{prefix}_one_per_generation"),
        models.UniqueConstraint(fields=["subject"], condition=~ended, name=f"{prefix}_one_active"),
    ]


def flow_indexes(prefix: str) -> list[models.Index]:
    """The indexes beside the queries of every flow table."""
    return [
        models.Index(fields=["due_at", "id"], condition=models.Q(due_at__isnull=False), name=f"{prefix}_due"),
        models.Index(fields=["state", "-id"], name=f"{prefix}_state"),
    ]

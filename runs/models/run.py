"""The run: a narrow row that claims and lists read, and its specification beside it."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.db.models import Q

from runs.flow import AT_REST, HELD, LIVE, RUN_MACHINE, RunState
from runs.models.placement import PlacementClass

LIVE_RUNS = Q(state__in=[state.value for state in LIVE])
RESTING_RUNS = Q(state__in=[state.value for state in AT_REST])
# Plain strings: a migration must not import the enum of today.
STATES = [(str(value), word) for value, word in RUN_MACHINE.choices()]
QUEUED = Q(state=RunState.QUEUED.value)


class Hold(models.TextChoices):
    """Why a queued run may not be claimed now, for a reason of its own; empty means ready."""

    NONE = "", "Ready"
    BACKOFF = "backoff", "Backoff"
    EXCLUSIVE = "exclusive", "Exclusive"
    SUBJECT_BUDGET = "subject_budget", "Subject budget"
    RUN_BUDGET = "run_budget", "Run budget"


class FailureCause(models.TextChoices):
    """What kind of fault ended an attempt; decides whether the run is tried again."""

    NONE = "", "None"
    ENVIRONMENT = "environment", "Environment"
    AGENT_ERROR = "agent_error", "Agent error"
    FATAL = "fatal", "Fatal"


class Run(models.Model):
    """One piece of work. `state` is written by `runs.queue.journal.run_move` alone; a run at rest keeps all columns.

    ``budget_*`` is the specification's own budget, null where it names none.
    ``fencing_token`` is the key of the newest attempt. ``available_at`` belongs to the hold `backoff`. Failures are
    counted by cause; the ones that have a limit of their own have a counter of their own.
    """

    run_id = models.CharField(max_length=30, unique=True)
    state = models.CharField(max_length=16, choices=STATES)
    reason_code = models.CharField(max_length=64)
    cause = models.CharField(max_length=16, choices=FailureCause, blank=True, default="")

    agent_id = models.CharField(max_length=63)
    agent_ref = models.CharField(max_length=80)
    def_hash = models.CharField(max_length=71)
    spec_hash = models.CharField(max_length=71)
    content_hash = models.CharField(max_length=71)
    idempotency_key = models.CharField(max_length=500, unique=True)
    output_contract = models.CharField(max_length=120)

    subject = models.CharField(max_length=300)
    subject_label = models.CharField(max_length=300, blank=True)
    repository = models.CharField(max_length=200, blank=True)
    flow_type = models.CharField(max_length=40, blank=True)
    flow_subject = models.CharField(max_length=300, blank=True)
    flow_generation = models.PositiveIntegerField(null=True, blank=True)
    flow_step = models.CharField(max_length=64, blank=True)
    flow_entry = models.BigIntegerField(null=True, blank=True)
    origin_kind = models.CharField(max_length=16)
    origin_type = models.CharField(max_length=120, blank=True)
    correlation_id = models.CharField(max_length=300, blank=True)
    causation_id = models.CharField(max_length=300, blank=True)

    family = models.CharField(max_length=300, null=True, blank=True)  # noqa: DJ001 - null leaves the unique index
    generation = models.PositiveIntegerField(default=1)
    singleton_key = models.CharField(max_length=300, null=True, blank=True)  # noqa: DJ001 - as family

    placement_class = models.ForeignKey(PlacementClass, on_delete=models.PROTECT, null=True, blank=True, db_index=False)
    priority = models.PositiveSmallIntegerField(default=5)
    rank_at = models.DateTimeField(null=True, blank=True)
    hold = models.CharField(max_length=16, choices=Hold, blank=True, default="")
    hold_checked_at = models.DateTimeField(null=True, blank=True)
    available_at = models.DateTimeField(null=True, blank=True)
    exclusive_key = models.CharField(max_length=300, blank=True)

    mutating = models.BooleanField(default=False)
    result_policy = models.CharField(max_length=16)
    timeout_seconds = models.PositiveIntegerField()
    verify_seconds = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField()
    max_environment_retries = models.PositiveSmallIntegerField()
    budget_micro_usd = models.BigIntegerField(null=True, blank=True)
    budget_tokens = models.BigIntegerField(null=True, blank=True)

    attempt_number = models.PositiveIntegerField(default=0)
    fencing_token = models.BigIntegerField(null=True, blank=True)
    environment_failures = models.PositiveIntegerField(default=0)
    agent_error_failures = models.PositiveIntegerField(default=0)
    drain_failures = models.PositiveIntegerField(default=0)
    usage_limit_failures = models.PositiveIntegerField(default=0)
    journal_seq = models.PositiveIntegerField(default=0)
    journal_head = models.CharField(max_length=71)

    created_at = models.DateTimeField()
    queued_at = models.DateTimeField(null=True, blank=True)
    first_claimed_at = models.DateTimeField(null=True, blank=True)
    extended_seconds = models.PositiveIntegerField(default=0)  # granted by operators, all attempts together
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=[value for value, _ in STATES]), name="run_state_known"),
            models.CheckConstraint(condition=Q(hold__in=Hold.values), name="run_hold_known"),
            models.CheckConstraint(condition=Q(hold="") | QUEUED, name="run_hold_only_queued"),
            models.CheckConstraint(
                condition=Q(hold="backoff", available_at__isnull=False)
                | (~Q(hold="backoff") & Q(available_at__isnull=True)),
                name="run_backoff_has_instant",
            ),
            models.CheckConstraint(
                condition=~QUEUED | Q(placement_class__isnull=False, rank_at__isnull=False, queued_at__isnull=False),
                name="run_queued_is_ranked",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[state.value for state in HELD])
                | Q(fencing_token__isnull=False, attempt_number__gte=1),
                name="run_held_has_token",
            ),
            models.CheckConstraint(
                condition=(RESTING_RUNS & Q(ended_at__isnull=False)) | (LIVE_RUNS & Q(ended_at__isnull=True)),
                name="run_ended_at_rest",
            ),
            models.CheckConstraint(condition=Q(priority__lte=9), name="run_priority_in_range"),
            models.UniqueConstraint(fields=["family"], condition=LIVE_RUNS, name="run_family_live"),
            models.UniqueConstraint(fields=["singleton_key"], condition=LIVE_RUNS, name="run_singleton_live"),
        ]
        indexes = [
            # The claim, and the counts for a pool. A query uses it only if it repeats the condition literally.
            models.Index(fields=["placement_class", "rank_at", "id"], condition=QUEUED & Q(hold=""), name="run_ready"),
            # Release of due retries.
            models.Index(fields=["available_at"], condition=QUEUED & Q(hold="backoff"), name="run_backoff"),
            # The sweep that looks at holds again.
            models.Index(fields=["hold_checked_at"], condition=QUEUED & ~Q(hold=""), name="run_held"),
            # Clearing by the attempt that had the key.
            models.Index(fields=["exclusive_key"], condition=QUEUED & Q(hold="exclusive"), name="run_exclusive"),
            # Lists by keyset.
            models.Index(fields=["state", "-id"], name="run_by_state"),
            models.Index(fields=["subject", "-id"], name="run_by_subject"),
            models.Index(fields=["agent_id", "-id"], name="run_by_agent"),
        ]

    def __str__(self) -> str:
        return self.run_id

    @property
    def is_held(self) -> bool:
        """Whether an attempt holds it."""
        return self.state in HELD

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing but an operator's retry moves it."""
        return self.state in AT_REST


class RunSpec(models.Model):
    """The immutable specification of a run, as canonical JSON whose hash is the run's ``spec_hash``."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="spec_row")
    canonical = models.TextField()

    def __str__(self) -> str:
        return f"spec of {self.run_id}"

    @property
    def document(self) -> dict[str, Any]:
        """The specification as a mapping; a new one at each call."""
        loaded: dict[str, Any] = json.loads(self.canonical)
        return loaded

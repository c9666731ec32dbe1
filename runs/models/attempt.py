"""Attempts: one try of a run by one worker. The primary key is the fencing token."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from runs.models.placement import PlacementClass
from runs.models.run import FailureCause, Run

UNFINISHED = Q(finished_at__isnull=True)


class AttemptPhase(models.TextChoices):
    """What the worker says it is doing, in the order in which it may be said."""

    LEASED = "leased", "Leased"
    RUNNING = "running", "Running"
    VERIFYING = "verifying", "Verifying"
    PUBLISHING = "publishing", "Publishing"
    STOPPED = "stopped", "Stopped"


class AttemptOutcome(models.TextChoices):
    """How an attempt ended; empty while it has not."""

    NONE = "", "Unfinished"
    COMPLETED = "completed", "Completed"
    REFUSED = "refused", "Refused"
    FAILED = "failed", "Failed"
    TIMED_OUT = "timed_out", "Timed out"
    CANCELLED = "cancelled", "Cancelled"


class Attempt(models.Model):
    """One try. The key rises strictly and is never used twice (AUTOINCREMENT, identity), so it fences older tries.

    Worker and node are plain text: a run never depends on a row of the registry. ``agent_deadline_at`` exists from the
    start of the agent, ``deadline_at`` from the claim; nothing is accepted at or after it. ``claim_*`` and ``result_*``
    remember the requests that must be answered the same way again. ``detail_json`` is canonical JSON. ``budget_*`` is
    what the run might still spend when this attempt was claimed, and what was added to it since; null: no limit.
    """

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.PositiveIntegerField()
    agent_ref = models.CharField(max_length=80)
    placement_class = models.ForeignKey(PlacementClass, on_delete=models.PROTECT, null=True, blank=True, db_index=False)
    worker_id = models.CharField(max_length=120)
    node = models.CharField(max_length=63)
    worker_version = models.CharField(max_length=80, blank=True)

    phase = models.CharField(max_length=16, choices=AttemptPhase, default=AttemptPhase.LEASED)
    outcome = models.CharField(max_length=16, choices=AttemptOutcome, blank=True, default="")
    reason_code = models.CharField(max_length=64, blank=True)
    cause = models.CharField(max_length=16, choices=FailureCause, blank=True, default="")
    detail_json = models.TextField(blank=True, default="{}")
    exit_code = models.IntegerField(null=True, blank=True)

    claimed_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    verifying_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    agent_deadline_at = models.DateTimeField(null=True, blank=True)
    deadline_at = models.DateTimeField()
    deadline_recorded_at = models.DateTimeField(null=True, blank=True)
    heartbeat_due_at = models.DateTimeField()
    liveness_seconds = models.PositiveIntegerField()
    heartbeat_seq = models.BigIntegerField(default=-1)
    heartbeat_hash = models.CharField(max_length=71, blank=True)
    control_seq = models.PositiveIntegerField(default=0)
    reap_not_before = models.DateTimeField(null=True, blank=True)

    adapter = models.CharField(max_length=40)
    model = models.CharField(max_length=120, blank=True)
    def_hash = models.CharField(max_length=71)
    prompt_hash = models.CharField(max_length=71, blank=True)
    exclusive_key = models.CharField(max_length=300, blank=True)
    budget_micro_usd = models.BigIntegerField(null=True, blank=True)
    budget_tokens = models.BigIntegerField(null=True, blank=True)

    claim_key = models.CharField(max_length=64)
    claim_hash = models.CharField(max_length=71)
    result_key = models.CharField(max_length=64, blank=True)
    result_hash = models.CharField(max_length=71, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run"], condition=UNFINISHED, name="attempt_open_per_run"),
            models.UniqueConstraint(fields=["worker_id"], condition=UNFINISHED, name="attempt_open_per_worker"),
            models.UniqueConstraint(
                fields=["exclusive_key"], condition=UNFINISHED & ~Q(exclusive_key=""), name="attempt_open_per_key"
            ),
            models.UniqueConstraint(fields=["run", "number"], name="attempt_number"),
            models.UniqueConstraint(fields=["node", "claim_key"], name="attempt_claim_key"),
            models.UniqueConstraint(
                fields=["node", "result_key"], condition=~Q(result_key=""), name="attempt_result_key"
            ),
            models.CheckConstraint(condition=Q(phase__in=AttemptPhase.values), name="attempt_phase_known"),
            models.CheckConstraint(condition=Q(outcome__in=AttemptOutcome.values), name="attempt_outcome_known"),
            models.CheckConstraint(
                condition=(Q(outcome="") & UNFINISHED) | (~Q(outcome="") & Q(finished_at__isnull=False)),
                name="attempt_outcome_when_finished",
            ),
            models.CheckConstraint(
                condition=Q(agent_deadline_at__isnull=True) | Q(agent_deadline_at__lte=F("deadline_at")),
                name="attempt_deadlines_in_order",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "-id"], name="attempt_by_run"),
            # What a node holds or held a moment ago: which documents it may read.
            models.Index(fields=["node", "finished_at"], name="attempt_by_node"),
            # The reaper's two questions.
            models.Index(fields=["heartbeat_due_at"], condition=UNFINISHED, name="attempt_liveness"),
            models.Index(fields=["deadline_at"], condition=UNFINISHED, name="attempt_deadline"),
            # What runs now, by what caps go by and by node.
            models.Index(fields=["placement_class", "node"], condition=UNFINISHED, name="attempt_open_by_class"),
            # Circuit breaker, costs and caps of an agent.
            models.Index(fields=["agent_ref", "finished_at"], name="attempt_agent"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of run {self.run_id}"

    @property
    def token(self) -> str:
        """The fencing token as it stands on the wire."""
        return str(self.pk)

    @property
    def is_finished(self) -> bool:
        """Whether it ended, in whatever way."""
        return self.finished_at is not None

"""The merge flow's row, and the heads that it counts as its own."""

from typing import ClassVar, cast

from django.db import models

from convergence.models import PullRequest
from merging.flow import MERGE_MACHINE, MergeState
from runs.machine import Machine
from runs.models.flow_row import FlowRow, flow_constraints, flow_indexes


class MergeFlow(FlowRow):
    """One converged submission on its way to the base branch, with its counters and the limits it began with."""

    machine: ClassVar[Machine] = MERGE_MACHINE

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="merge_flows")
    repository_id = models.BigIntegerField()  # of the forge
    base_ref = models.CharField(max_length=255, default="", blank=True)
    converged_at = models.DateTimeField()
    merge_retries = models.PositiveSmallIntegerField(default=0)
    merge_retry_max = models.PositiveSmallIntegerField()
    ci_fixes = models.PositiveSmallIntegerField(default=0)
    ci_fix_max = models.PositiveSmallIntegerField(default=3)
    rebases = models.PositiveSmallIntegerField(default=0)
    rebase_max = models.PositiveSmallIntegerField(default=3)
    evictions = models.PositiveSmallIntegerField(default=0)
    eviction_max = models.PositiveSmallIntegerField(default=5)
    stalls = models.PositiveSmallIntegerField(default=0)
    stall_max = models.PositiveSmallIntegerField()
    returns = models.PositiveSmallIntegerField(default=0)
    return_max = models.PositiveSmallIntegerField()
    stall_since = models.DateTimeField(null=True)
    stall_mark = models.CharField(max_length=71, default="", blank=True)  # hash of what the stall clock watches
    verdict = models.CharField(max_length=16, default="", blank=True)
    verdict_reason = models.CharField(max_length=32, default="", blank=True)
    verdict_head = models.CharField(max_length=40, default="", blank=True)
    verdict_base_sha = models.CharField(max_length=40, default="", blank=True)
    verdict_inputs = models.JSONField(default=dict)  # what the verdict was made of, for people
    verdict_at = models.DateTimeField(null=True)
    held_reason = models.CharField(max_length=32, default="", blank=True)
    refused_head = models.CharField(max_length=40, default="", blank=True)  # head of an uncounted "not ready"
    retry_at = models.DateTimeField(null=True)  # no merge call before; null: no counted retry rests
    asked_verdict = models.CharField(max_length=16, default="", blank=True)  # when the open question was asked
    asked_head = models.CharField(max_length=40, default="", blank=True)
    asked_base_sha = models.CharField(max_length=40, default="", blank=True)
    landed_sha = models.CharField(max_length=40, default="", blank=True)
    run_id = models.CharField(max_length=64, default="", blank=True)  # of the newest agent step
    agent_question = models.TextField(default="", blank=True)  # of an agent that said it is blocked
    blocked_head = models.CharField(max_length=40, default="", blank=True)  # at which it said so
    reconciled = models.BooleanField(default=False)  # that "blocked" has had its free look
    failed_runs = models.JSONField(default=list)  # check runs that failed when the agent began
    reattempt_head = models.CharField(max_length=40, default="", blank=True)  # at which an agent asked for a re-run
    answer = models.TextField(default="", blank=True)  # of a person, for the next agent
    answer_question = models.TextField(default="", blank=True)
    pushed_from = models.CharField(max_length=40, default="", blank=True)  # head that the newest own push replaced
    pushed_at = models.DateTimeField(null=True)
    approved_head = models.CharField(max_length=40, default="", blank=True)  # that a person let into this base
    queue_seen = models.BooleanField(default=False)  # an entry of the merge queue was read since it entered
    queue_position = models.PositiveIntegerField(null=True)
    queue_removal = models.CharField(max_length=100, default="", blank=True)  # the newest that was taken note of
    queue_failed_head = models.CharField(max_length=40, default="", blank=True)  # whose checks failed in the queue
    queue_failed_sha = models.CharField(max_length=40, default="", blank=True)  # the queue's own commit of them
    dependency_warnings = models.JSONField(default=list)  # what of the body names no pull request
    looks = models.PositiveIntegerField(default=0)  # looks in this state, for the first short intervals

    class Meta:
        constraints: ClassVar = [
            *flow_constraints(MERGE_MACHINE, "merge"),
            models.UniqueConstraint(
                fields=["repository_id", "base_ref"],
                condition=models.Q(state=MergeState.MERGING),
                name="merge_one_per_base",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=MergeState.MERGED) | ~models.Q(landed_sha=""), name="merge_merged_is_landed"
            ),
        ]
        indexes: ClassVar = flow_indexes("merge")

    @classmethod
    def rows(cls) -> "models.QuerySet[MergeFlow]":
        """Every row, typed as this flow's own."""
        return cast("models.QuerySet[MergeFlow]", cls.objects.all())


class OwnHead(models.Model):
    """A head that this product's own review or update covers; any other is foreign."""

    flow = models.ForeignKey(MergeFlow, on_delete=models.CASCADE, related_name="own_heads")
    sha = models.CharField(max_length=40)
    source = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["flow", "sha"], name="own_head_once")]

    def __str__(self) -> str:
        return self.sha[:7]

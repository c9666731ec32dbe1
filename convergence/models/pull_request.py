"""Pull requests and their submissions."""

from typing import ClassVar

from django.db import models

from convergence.flow import FINAL_PULL_STATES, PullState
from convergence.models.repository import Repository

PULL_CHOICES = [(state.value, state.value.replace("_", " ").capitalize()) for state in PullState]


class PullRequest(models.Model):
    """One pull request. `state` is written only together with the flow row that drives it."""

    repository = models.ForeignKey(Repository, on_delete=models.PROTECT, related_name="pulls")
    number = models.PositiveIntegerField()
    node_id = models.CharField(max_length=100, default="", blank=True)
    title = models.CharField(max_length=500)
    url = models.URLField(max_length=500)
    author = models.CharField(max_length=100, default="", blank=True)
    state = models.CharField(max_length=16, choices=PULL_CHOICES)
    generation = models.PositiveIntegerField(default=0)
    head_ref = models.CharField(max_length=255, default="", blank=True)
    head_sha = models.CharField(max_length=40, default="", blank=True)  # as read last; blank: unknown
    base_ref = models.CharField(max_length=255, default="", blank=True)
    head_repository = models.CharField(max_length=140, default="", blank=True)
    head_repository_id = models.BigIntegerField(null=True)
    root = models.CharField(max_length=250)
    missing_count = models.PositiveIntegerField(default=0)  # explicit not-found answers, or gone heads, in a row
    missing_since = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)  # when a person last asked for a look
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    is_over = models.GeneratedField(  # lists are read by it: what is under way is few, what is over is a long history
        expression=models.Case(
            models.When(state__in=[state.value for state in FINAL_PULL_STATES], then=True), default=False
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "number"], name="pull_request_once"),
            models.CheckConstraint(condition=models.Q(state__in=[*PullState]), name="pull_request_state_known"),
            models.CheckConstraint(condition=~models.Q(title=""), name="pull_request_title_not_blank"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["state", "-updated_at", "-id"], name="pull_request_state"),
            models.Index(fields=["is_over", "-updated_at", "-id"], name="pull_request_over"),
            models.Index(fields=["-updated_at", "-id"], name="pull_request_newest"),
            models.Index(fields=["head_sha"], name="pull_request_head"),
            models.Index(fields=["root"], name="pull_request_root"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        """``owner/repo#number`` as the forge spells it now; needs the repository loaded."""
        return f"{self.repository.full_name}#{self.number}"

    @property
    def subject(self) -> str:
        """The stable reference that flows, runs and tasks go by."""
        return f"pull-request:{self.repository.forge_id}:{self.number}"


class PullRequestGeneration(models.Model):
    """One submission: what was asked for, and the token with which an agent asks whether it still holds."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="generations")
    number = models.PositiveIntegerField()
    abandon_token = models.CharField(max_length=32, unique=True)
    max_rounds = models.PositiveSmallIntegerField()
    auto_merge = models.BooleanField(default=True)
    submitted_by = models.CharField(max_length=200)
    submitted_at = models.DateTimeField()
    correlation_id = models.CharField(max_length=250)
    returns = models.PositiveSmallIntegerField(default=0)  # automatic returns in a row that led here
    outcome = models.CharField(max_length=200, default="", blank=True)
    scope_result = models.CharField(max_length=16, default="", blank=True)  # passed, blocked, unchecked
    scope_detail = models.CharField(max_length=300, default="", blank=True)
    warnings = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pull", "number"], name="generation_once"),
            models.CheckConstraint(condition=models.Q(max_rounds__range=(1, 100)), name="generation_max_rounds"),
        ]

    def __str__(self) -> str:
        return f"{self.pull_id} g{self.number}"

"""What the product itself remembers of heads, reviews and review requests."""

from typing import ClassVar

from django.db import models

from convergence.models.pull_request import PullRequest
from convergence.models.repository import Repository


class HeadSeen(models.Model):
    """A commit that was the head of the branch, with the server's instant of first sight."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="heads")
    sha = models.CharField(max_length=40)
    first_seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["pull", "sha"], name="head_once")]

    def __str__(self) -> str:
        return self.sha[:7]


class ReviewSeen(models.Model):
    """A review and the commit it is about, as judged at first sight: later it changes to none, never to another."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="reviews")
    forge_id = models.CharField(max_length=100)
    reviewer = models.CharField(max_length=100)  # configured name, or the login of a trusted person
    author = models.CharField(max_length=100)
    trusted = models.BooleanField(default=False)
    configured = models.BooleanField(default=False)
    state = models.CharField(max_length=32)
    submitted_at = models.DateTimeField()
    reported_sha = models.CharField(max_length=40, default="", blank=True)
    counts_for = models.CharField(max_length=40, default="", blank=True)  # blank: for no head
    void_reason = models.CharField(max_length=64, default="", blank=True)
    empty = models.BooleanField(default=False)
    body_hash = models.CharField(max_length=71, default="", blank=True)
    consumed_generation = models.PositiveIntegerField(null=True)  # null: no round was given it
    consumed_round = models.PositiveSmallIntegerField(null=True)
    first_seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["pull", "forge_id"], name="review_once")]
        indexes: ClassVar = [
            models.Index(
                fields=["pull", "submitted_at"],
                condition=models.Q(consumed_round__isnull=True),
                name="review_unconsumed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reviewer} {self.state}"


class ReviewRequest(models.Model):
    """One attempt to ask a reviewer for a review of a head, with what was observed."""

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="review_requests")
    generation = models.PositiveIntegerField()
    reviewer = models.CharField(max_length=100)
    head = models.CharField(max_length=40, default="", blank=True)
    number = models.PositiveIntegerField()  # 1, 2, … for this generation and head
    key = models.CharField(max_length=240, unique=True)
    asked_at = models.DateTimeField()
    outcome = models.CharField(max_length=24, default="", blank=True)  # blank: not observed yet
    detail = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["pull", "generation", "-id"], name="review_request_recent")]

    def __str__(self) -> str:
        return f"{self.reviewer} {self.outcome or 'asked'}"


class ReviewerStatus(models.Model):
    """A reviewer that the forge refused to request here, until then or until an operator asks again."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="reviewer_statuses")
    reviewer = models.CharField(max_length=100)
    unavailable_until = models.DateTimeField(null=True)
    ignored_count = models.PositiveIntegerField(default=0)
    misconfigured = models.BooleanField(default=False)  # the policy names whom the forge does not let be asked here
    detail = models.CharField(max_length=500, default="", blank=True)
    checked_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["repository", "reviewer"], name="reviewer_status_once"),
        ]

    def __str__(self) -> str:
        return self.reviewer

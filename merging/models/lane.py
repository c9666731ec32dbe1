"""Lanes: pull requests of one group that touch the same files, and the order in which they land."""

from typing import ClassVar

from django.db import models

from convergence.models import PullRequest


class LaneGroup(models.Model):
    """The pull requests of one plan. Its row is held while a member decides whether it may go."""

    key = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.key


class LaneMember(models.Model):
    """One task of the group, and its pull request once there is one; ``passed_at``: a person let it go first."""

    group = models.ForeignKey(LaneGroup, on_delete=models.CASCADE, related_name="members")
    name = models.CharField(max_length=100)
    pull = models.ForeignKey(PullRequest, on_delete=models.SET_NULL, null=True, related_name="lane_members")
    depth = models.PositiveIntegerField(default=0)
    position = models.PositiveIntegerField(default=0)
    passed_at = models.DateTimeField(null=True)
    passed_by = models.CharField(max_length=200, default="", blank=True)
    pass_reason = models.CharField(max_length=500, default="", blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["group", "name"], name="lane_member_once")]

    def __str__(self) -> str:
        return self.name


class LaneEdge(models.Model):
    """Two members that may not land at once, ``first`` before ``second`` in the order of names."""

    group = models.ForeignKey(LaneGroup, on_delete=models.CASCADE, related_name="edges")
    first = models.CharField(max_length=100)
    second = models.CharField(max_length=100)
    files = models.JSONField(default=list)
    source = models.CharField(max_length=16, default="", blank=True)
    superseded_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["group", "first", "second"], name="lane_edge_once"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="lane_edge_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"

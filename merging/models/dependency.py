"""Which pull request merges after which: one row for each pair, with where it comes from and how it stands."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from convergence.models import PullRequest
from merging.decisions.dependencies import Source, Standing


class DependencyQuerySet(models.QuerySet["Dependency"]):
    """Which dependencies count."""

    def in_force(self) -> DependencyQuerySet:
        """Those that nobody dropped."""
        return self.filter(dropped_at__isnull=True)

    def in_the_way(self) -> DependencyQuerySet:
        """Those in force that do not stand as clear."""
        return self.in_force().exclude(standing=Standing.CLEAR)


class Dependency(models.Model):
    """``pull`` merges after the pull request that ``key`` names.

    The key is ``<repository's number>#<number>`` once the repository could be read, so that a rename changes nothing,
    and ``owner/repo#number`` in lower case before.
    """

    pull = models.ForeignKey(PullRequest, on_delete=models.CASCADE, related_name="dependencies")
    key = models.CharField(max_length=160)
    reference = models.CharField(max_length=160)  # owner/repo#number as people read it
    repository_id = models.BigIntegerField(null=True)  # of the forge; null: not read yet
    number = models.PositiveIntegerField()
    node_id = models.CharField(max_length=100, default="", blank=True)
    source = models.CharField(max_length=16, choices=[(each.value, each.value) for each in Source])
    standing = models.CharField(max_length=16, choices=[(each.value, each.value) for each in Standing])
    note = models.CharField(max_length=32, default="", blank=True)
    read_at = models.DateTimeField(null=True)
    missing_since = models.DateTimeField(null=True)  # its repository can be read and has no such number
    unreadable_since = models.DateTimeField(null=True)  # its repository cannot be read
    added_by = models.CharField(max_length=200)
    added_at = models.DateTimeField()
    dropped_at = models.DateTimeField(null=True)
    dropped_by = models.CharField(max_length=200, default="", blank=True)
    drop_reason = models.CharField(max_length=500, default="", blank=True)
    declared_in = models.CharField(max_length=71, default="", blank=True)  # hash of the body that declares it

    objects = DependencyQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["pull", "key"], name="dependency_once")]
        indexes: ClassVar = [
            models.Index(fields=["key"], name="dependency_by_target"),
            models.Index(
                fields=["unreadable_since"],
                condition=models.Q(unreadable_since__isnull=False, dropped_at__isnull=True),
                name="dependency_unreadable",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reference}: {self.standing}"

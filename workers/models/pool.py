"""The pools of machines, as their supervisors report them: one row for each pool of a node."""

from __future__ import annotations

from django.db import models


class Pool(models.Model):
    """The last report of one supervisor. Whether that supervisor lives is derived from ``seen_at``, never stored."""

    node = models.CharField(max_length=63)
    name = models.CharField(max_length=63)
    host = models.CharField(max_length=255, default="")
    version = models.CharField(max_length=100, default="")
    min = models.PositiveIntegerField()
    max = models.PositiveIntegerField()
    offer = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)  # workers, idle, busy, draining, lost, starting, claimable
    action = models.CharField(max_length=20, default="")
    reason = models.CharField(max_length=40, default="")
    decided_at = models.DateTimeField()  # since when action and reason are these
    short_since = models.DateTimeField(null=True)  # since when it has fewer workers than its minimum
    stuck_since = models.DateTimeField(null=True)  # since when work waits that an idle worker of it could take
    crashes = models.PositiveIntegerField(default=0)  # in a row, of workers that died at their start
    last_line = models.CharField(max_length=500, default="")  # what the last of them said
    unkillable = models.JSONField(default=list)  # pids of what dead workers left and SIGKILL does not end
    seen_at = models.DateTimeField()
    stopping = models.BooleanField(default=False)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["node", "name"], name="pool_of_a_node"),)
        ordering = ("node", "name")

    def __str__(self) -> str:
        return f"{self.name}@{self.node}"

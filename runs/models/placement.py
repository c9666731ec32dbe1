"""Placement classes: what runs require of a worker, each distinct requirement once."""

from __future__ import annotations

from django.db import models


class PlacementClass(models.Model):
    """Immutable. What a worker must offer (adapter, labels, workspace kind, repository) and the names that caps hit.

    ``key_hash`` is the hash of the canonical form of all six; ``repository`` is empty when none is needed.
    """

    key_hash = models.CharField(max_length=71, unique=True)
    adapter = models.CharField(max_length=40)
    labels = models.JSONField(default=dict)
    workspace_kind = models.CharField(max_length=16)
    repository = models.CharField(max_length=200, blank=True)
    agent_id = models.CharField(max_length=63)
    weight_class = models.CharField(max_length=40)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.agent_id} on {self.adapter} in {self.workspace_kind}"
